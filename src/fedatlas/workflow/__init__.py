"""What the Snakemake workflow asks of the package: which files there are, and the jobs that make them."""

LIVE = "FEDATLAS_LIVE_TRACKING"  # an environment variable: the server that jobs log to as they end
EXTRAS = "FEDATLAS_MLFLOW_EXTRAS"  # an environment variable: what jobs keep for MLflow besides results, with commas
