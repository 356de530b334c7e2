"""Stand-ins for what common.smk defines: `snakemake --lint` reads the rules without the package, and calls nothing."""

from unittest.mock import MagicMock

study = graph = requests = run_inputs = summary = sources = MagicMock()
study.folders.prepared.return_value = "data/prepared/{data}"
size, results, is_cluster = "laptop", "results", False
