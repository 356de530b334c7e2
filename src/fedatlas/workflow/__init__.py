"""What the Snakemake workflow asks of the package: which files there are, and the jobs that make them."""
