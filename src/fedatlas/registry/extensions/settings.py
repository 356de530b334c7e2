"""The study whose extensions are used: that of the working directory, or the one that a job is told."""

import functools
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fedatlas.errors import UserError

VARIABLE = "FEDATLAS_EXTENSIONS"
CONFIG = "config/config.yaml"
DEFAULT = ("extensions",)


@dataclass(frozen=True)
class Study:
    """Where extensions are looked for.

    root: the study's folder, or None outside of a study. paths: its files and folders of extensions, relative to it.
    """

    root: Path | None
    paths: tuple[str, ...] = ()


def written(root: str | Path, paths: Iterable[str]) -> str:
    """The value of FEDATLAS_EXTENSIONS that names a study and its extensions."""
    return json.dumps({"root": os.path.abspath(root), "paths": list(paths)})


def study() -> Study:
    """The study that FEDATLAS_EXTENSIONS names, else that of the working directory.

    Raises UserError if the variable or the key ``extensions`` of the configuration is not what it must be.
    """
    try:
        here = os.getcwd()
    except OSError:  # it was removed
        here = ""
    return _study(os.environ.get(VARIABLE, ""), here)


@functools.cache
def _study(given: str, directory: str) -> Study:
    if given:
        try:
            known = json.loads(given)
            return Study(Path(known["root"]), tuple(map(str, known["paths"])))
        except (ValueError, KeyError, TypeError, RecursionError):
            raise UserError(f"{VARIABLE} is {given:.60}; it must be what the workflow writes there") from None
    if not directory or not Path(directory, CONFIG).is_file():
        return Study(None)
    from fedatlas.io.yaml import read_yaml

    config = read_yaml(CONFIG)
    paths = config.get("extensions", DEFAULT) if isinstance(config, dict) else DEFAULT
    if not isinstance(paths, (list, tuple)) or not all(isinstance(path, str) for path in paths):
        raise UserError(f"{CONFIG}: extensions is {paths!r:.60}; it must be a list of files and folders")
    return Study(Path(directory), tuple(paths))
