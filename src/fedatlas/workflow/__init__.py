"""The Snakemake workflow: the graph of its files, the jobs that make them, and the studies that it serves."""

LIVE = "FEDATLAS_LIVE_TRACKING"  # an environment variable: the server that jobs log to as they end
