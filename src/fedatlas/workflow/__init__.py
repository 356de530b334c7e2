"""The Snakemake workflow: the graph of its files, the jobs that make them, and the studies that it serves."""

LIVE = "FEDATLAS_LIVE_TRACKING"  # an environment variable: the server that jobs log to as they end
EXTRAS = "FEDATLAS_MLFLOW_EXTRAS"  # an environment variable: what jobs keep for MLflow besides results, with commas
