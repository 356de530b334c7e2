"""The study whose extensions are used: that of the working directory, or the one that the workflow passes to a job."""

import functools
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fedatlas.errors import UserError

VARIABLE = "FEDATLAS_EXTENSIONS"
CONFIG = "config/config.yaml"
DEFAULT_PATHS = ("extensions",)


@dataclass(frozen=True)
class Study:
    """The folder and the paths in which extensions are searched for.

    Args:
        root: The study's folder, or None outside of a study.
        paths: Files and folders of extensions, relative to ``root``.
    """

    root: Path | None
    paths: tuple[str, ...] = ()


def environment_value(root: str | Path, paths: Iterable[str]) -> str:
    """Return the value of FEDATLAS_EXTENSIONS that names a study and its extensions."""
    return json.dumps({"root": os.path.abspath(root), "paths": list(paths)})


def study() -> Study:
    """Return the study that FEDATLAS_EXTENSIONS names, else that of the working directory.

    Raises:
        UserError: The variable, or the key ``extensions`` of the configuration, does not have the form that it must
            have.
    """
    try:
        directory = os.getcwd()
    except OSError:  # it was removed
        directory = ""
    return _study(os.environ.get(VARIABLE, ""), directory)


@functools.cache
def _study(value: str, directory: str) -> Study:
    if value:
        try:
            content = json.loads(value)
            return Study(Path(content["root"]), tuple(map(str, content["paths"])))
        except (ValueError, KeyError, TypeError, RecursionError):
            raise UserError(f"{VARIABLE} is {value:.60}; it must be what the workflow writes there") from None
    if not directory or not Path(directory, CONFIG).is_file():
        return Study(None)
    from fedatlas.io.yaml import read_yaml

    config = read_yaml(CONFIG)
    paths = config.get("extensions", DEFAULT_PATHS) if isinstance(config, dict) else DEFAULT_PATHS
    if not isinstance(paths, (list, tuple)) or not all(isinstance(path, str) for path in paths):
        raise UserError(f"{CONFIG}: extensions is {paths!r:.60}; it must be a list of files and folders")
    return Study(Path(directory), tuple(paths))
