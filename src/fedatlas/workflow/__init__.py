"""The Snakemake workflow: the graph of its files, the jobs that make them, and the studies that it serves."""
