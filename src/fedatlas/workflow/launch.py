"""`fedatlas run`: start Snakemake with the workflow that the package carries, on an experiment of the study."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from fedatlas.data.paths import cache_folder
from fedatlas.errors import UserError, did_you_mean
from fedatlas.experiments.cells import CASE
from fedatlas.io.files import ensure_writable
from fedatlas.workflow.configuration import SNAKEFILE
from fedatlas.workflow.study import Study


def run(
    name: str, size: str | None, cores: str, dry: bool, options: Sequence[str] = (), case: str | None = None
) -> int:
    """Make the results of an experiment with Snakemake, which prints where they lie.

    Args:
        name: Name of the experiment.
        size: Its size; None for that of the configuration.
        cores: Number of cores, or ``all``.
        dry: Whether to show only the plan.
        options: Further options for Snakemake.
        case: A case of which the run files alone are made.

    Returns:
        The exit status of Snakemake.

    Raises:
        UserError: There is no such experiment or case, it is wrong, or Snakemake could not keep its cache.
    """
    study = Study.open()
    study.check_name(name)
    targets = [name] if case is None else _run_files(study, size or study.config["size"], name, case)
    return start(targets, size, cores, [*(["--dry-run"] if dry else []), *options])


def _run_files(study: Study, size: str, name: str, case: str) -> list[str]:
    """Return the paths of the run files of a case. Raises UserError if the experiment has no such case."""
    cases = study.view(size, name).cases
    if case not in cases:
        raise UserError(f"{name} (size {size}) has no case {case!r}{did_you_mean(case, cases)}")
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

    Raises:
        UserError: Snakemake could not keep its cache.
    """
    try:
        ensure_writable(cache_folder().with_name("snakemake") / "cache")
    except UserError as error:
        raise UserError(f"{error}: set XDG_CACHE_HOME to a folder in which Snakemake can keep its cache") from None
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
            status = process.wait()
            if status and any(Path(".snakemake/locks").glob("*")):  # its own advice needs a Snakefile in this folder
                advice = "if no other process works in this folder, `fedatlas run NAME -- --unlock` removes the lock"
                print(f"fedatlas: {advice}, for any experiment NAME", file=sys.stderr)
            return status
        except KeyboardInterrupt:
            continue  # Snakemake was interrupted as well, and ends its jobs first
        except SystemExit:
            process.terminate()
            process.wait()
            raise
