"""The study in the working directory, its configuration, and what the package carries for every study."""

import contextlib
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from fedatlas.data.paths import resolve_directory
from fedatlas.errors import UserError, nearest
from fedatlas.io.yaml import read_yaml
from fedatlas.workflow.atlas import Atlas
from fedatlas.workflow.experiment_files import FOLDER
from fedatlas.workflow.study_folders import Folders

CONFIG = Path("config/config.yaml")


def shipped() -> Path:
    """The folder of what the package carries besides code: ``workflow/`` and ``config/experiments/`` of the atlas.

    In a wheel it lies in the package; a checkout is the folder itself.
    """
    package = Path(__file__).parents[1]
    inside = package / "shipped"
    return inside if inside.is_dir() else package.parents[1]


SNAKEFILE = str(shipped() / "workflow/Snakefile")


def unambiguous() -> None:
    """Raise UserError if ``config.yaml`` is no YAML or gives a key twice, of which Snakemake takes the last.

    A file with keys that are not known is of a workflow that uses this one as a module, and reads it as it likes.
    """
    if CONFIG.exists() and _is_ours():
        read_yaml(CONFIG)


def _is_ours() -> bool:
    """Whether all keys of ``config.yaml`` are known. A file that cannot be read counts as ours."""
    with contextlib.suppress(OSError, ValueError, yaml.YAMLError):
        top = yaml.compose(CONFIG.read_text(encoding="utf-8"))
        keys = {key.value for key, _ in top.value} if isinstance(top, yaml.MappingNode) else set()
        return keys <= set(_schema()["properties"])
    return True


def is_study(atlas: Atlas) -> bool:
    """Whether the workflow is that of a study, and not a part of a workflow about something else."""
    return _is_ours() and atlas.folders.prefixed("") == ""


def completed(given: Any) -> dict[str, Any]:
    """A configuration with the default of each key that is not given.

    given: keys and values of a ``config.yaml``, or None for an empty one. It is not changed. Raises UserError that
    names a key which is unknown, or whose value is of another type.
    """
    from jsonschema import Draft202012Validator

    schema = _schema()
    known, found = schema["properties"], {} if given is None else given
    if not isinstance(found, dict):
        raise UserError(f"{CONFIG} holds {found!r:.60}; it must hold a mapping of keys to values")
    if unknown := next((key for key in found if key not in known), None):
        raise UserError(f"{CONFIG}: unknown key {unknown!r}{nearest(unknown, known)}")
    if wrong := next(Draft202012Validator(schema).iter_errors(found), None):
        key = ".".join(map(str, wrong.absolute_path))
        raise UserError(f"{CONFIG}: {key}: {wrong.message}")
    return {key: one["default"] for key, one in known.items() if "default" in one} | found


@functools.cache
def _schema() -> dict[str, Any]:
    return read_yaml(shipped() / "workflow/schemas/config.schema.yaml")


def study(
    given: Any, prefixed: Callable[[str], str] = str, shared: Callable[[str], str] = str, root: str | Path = "."
) -> Atlas:
    """The Atlas of a configuration.

    prefixed, shared: as of `Folders`. root: the study's folder. Raises UserError if the configuration is wrong.
    """
    settings = completed(given)
    folders = Folders.of(settings, prefixed, shared)
    settings.setdefault("mlflow_uri", f"sqlite:///{prefixed(folders.results)}/mlflow.db")
    return Atlas(settings, root, folders, shipped() / FOLDER)


def export(atlas: Atlas, workflow: Any) -> None:
    """Give jobs their environment variables.

    workflow: of Snakemake. All its jobs have one environment: raises UserError if it has another module of the atlas
    whose configuration needs another one.
    """
    found = atlas.environment()
    if vars(workflow).setdefault("fedatlas_environment", found) != found:
        raise UserError(
            "two modules of the atlas in one workflow need the same data, data_mirrors, extensions and mlflow_extras, "
            "and the same server in mlflow_uri if one has a server"
        )
    os.environ.update(found)


def here(results: str | None = None) -> Atlas:
    """The Atlas of the study in the working directory, which need not have a configuration.

    results: its folder of results, where that lies under the prefix of a module; by default as configured.
    """
    given = read_yaml(CONFIG) if CONFIG.exists() else None
    atlas = study(given if results is None else {**(given or {}), "results": results})
    if atlas.folders.data != str(resolve_directory()):  # where own data are remembered
        os.environ.setdefault("FEDATLAS_DATA", atlas.folders.data)
    return atlas
