"""`fedatlas run`: start Snakemake with the workflow that the package carries, on an experiment of the study."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from fedatlas.errors import lookup
from fedatlas.experiments.cells import CASE
from fedatlas.workflow.configuration import SNAKEFILE
from fedatlas.workflow.study import Study


def case_files(study: Study, size: str, name: str, case: str) -> list[str]:
    """Return the paths of the run files of a case. Raises UserError if the experiment has no such case."""
    lookup("case", case, study.view(size, name).cases)
    folder = study.folders.experiment(size, name)
    cells = [cell for cell in study.cells(size, name).values() if cell.point[CASE] == case]
    return [f"{folder}/runs/{cell.id}/{cell.key}.parquet" for cell in cells]


def start(targets: Sequence[str], size: str | None, cores: str, options: Sequence[str] = ()) -> int:
    """Start Snakemake with the workflow on targets.

    Args:
        targets: Experiments and files.
        size: Size of the experiments; None for that of the configuration.
        cores: Number of cores, or ``all``.
        options: Further options for Snakemake.

    Returns:
        The exit status of Snakemake.
    """
    words = list(options)
    config = [] if size is None else [f"size={size}"]
    position = next((number for number, word in enumerate(words) if word in ("--config", "-C")), None)
    if position is not None:
        words[position + 1 : position + 1] = config  # Snakemake takes the last --config alone
    elif config:
        words += ["--config", *config]
    # -P: modules of Python are not looked for in the study's folder
    command = [sys.executable, "-P", "-m", "snakemake", *targets, "--snakefile", SNAKEFILE, "--cores", cores]
    command += [*(() if "--logger" in words else ("--logger", "fedatlas")), *words]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    process = subprocess.Popen(command, env={**os.environ, "PATH": path})  # its jobs call `fedatlas`
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # Snakemake was interrupted as well, and ends its jobs first
        except SystemExit:
            process.terminate()
            process.wait()
            raise
