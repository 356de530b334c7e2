"""`fedatlas run`: the workflow that the package carries, on an experiment of the study in the working directory."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from fedatlas.errors import UserError, nearest
from fedatlas.workflow.atlas import Atlas
from fedatlas.workflow.project import SNAKEFILE, here


def run(name: str, size: str | None, cores: str, dry: bool, more: Sequence[str] = ()) -> int:
    """Make the results of an experiment, and say where they lie; returns the exit status of Snakemake.

    size: None for the one that the configuration names. dry: only show what would be made. more: further options for
    Snakemake. Raises UserError if there is no such experiment, or if it is wrong.
    """
    atlas = here()
    expect(atlas, name)
    if status := _snakemake(name, size, cores, [*(["--dry-run"] if dry else []), *more]):
        return status
    if not dry:
        print(told(atlas, size or atlas.config["size"], name))
    return 0


def expect(atlas: Atlas, name: str) -> None:
    """Raise UserError, with a guess, if there is no experiment of a name."""
    if name not in atlas.paths:
        guess = nearest(name, atlas.paths) or "; `fedatlas list experiments` names them all"
        raise UserError(f"there is no experiment {name!r}{guess}")


def _snakemake(name: str, size: str | None, cores: str, more: list[str]) -> int:
    given = [] if size is None else [f"size={size}"]
    place = next((number for number, word in enumerate(more) if word in ("--config", "-C")), None)
    if place is not None:
        more[place + 1 : place + 1] = given  # Snakemake takes the last --config alone
    elif given:
        more += ["--config", *given]
    # -P: modules of Python are not looked for in the study's folder
    command = [sys.executable, "-P", "-m", "snakemake", name, "--snakefile", SNAKEFILE, "--cores", cores, *more]
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


def told(atlas: Atlas, size: str, name: str) -> str:
    """Where the results of an experiment lie, for people."""
    folder = atlas.folders.experiment(size, name)
    uri = atlas.config["mlflow_uri"]
    return f"Report:  {folder}/report.html\nClaims:  {folder}/claims.csv\nMLflow:  {uri}  (fedatlas ui)"
