"""What the Snakemake workflow asks of the package: which files there are, and the jobs that make them."""

LIVE = "FEDATLAS_LIVE_TRACKING"  # an environment variable: the server that jobs log to as they end
