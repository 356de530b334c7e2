"""`fedatlas run`: the workflow that the package carries, on an experiment of the study in the working directory."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from fedatlas.errors import UserError, nearest
from fedatlas.workflow import whereabouts
from fedatlas.workflow.atlas import Atlas
from fedatlas.workflow.project import SNAKEFILE, here


def run(name: str, size: str | None, cores: str, dry: bool, more: Sequence[str] = ()) -> int:
    """Make the results of an experiment with Snakemake, which says where they lie; returns its exit status.

    size: None for the one that the configuration names. dry: only show what would be made. more: further options for
    Snakemake. Raises UserError if there is no such experiment, or if it is wrong.
    """
    atlas = here()
    expect(atlas, name)
    return _snakemake(name, size, cores, [*(["--dry-run"] if dry else []), *more])


def expect(atlas: Atlas, name: str) -> None:
    """Raise UserError, with a guess, if there is no experiment of a name."""
    if name not in atlas.paths:
        if where := whereabouts.sentence(atlas.files, name):
            raise UserError(f"there is no experiment {name!r}: {where}; ask for an experiment by its name")
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
