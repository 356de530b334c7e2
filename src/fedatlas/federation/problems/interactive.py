"""Problems for a person's call, in a shell or a notebook: data that need no download are prepared when needed."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fedatlas.data import prepared, sources
from fedatlas.data.custom import is_custom
from fedatlas.data.paths import cache_folder, prepared_folder, resolve_directory
from fedatlas.data.prepared import load_owners
from fedatlas.data.store import prepare
from fedatlas.errors import UserError
from fedatlas.federation import partitions, problems
from fedatlas.federation.problems.base import Problem
from fedatlas.federation.problems.spec_validation import check

DATA_KEYS = ("data", "test")  # of a problem that name data sets


def resolve_data_names(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A problem's specification with names in place of mappings of own data. Raises UserError if one does not fit."""
    found = dict(spec)
    for key in DATA_KEYS:
        if isinstance(found.get(key), Mapping):
            try:
                found[key] = sources.name(found[key])
            except UserError as error:
                raise UserError(f"problem.{key}: {error}") from None
    return found


def client_count(spec: Mapping[str, Any], directory: str | Path | None = None) -> int | None:
    """The number of clients that the data of a problem name, where its partition is by them; otherwise None.

    spec: of the problem. directory: the data directory. Raises UserError if the data name none.
    """
    if not partitions.is_owned(spec.get("partition")):
        return None
    data = sources.info(spec.get("data", ""), _directory(_names(resolve_data_names(spec)), directory))
    return partitions.number(spec["partition"], data.clients)


def create(spec: Mapping[str, Any], clients: int, directory: str | Path | None = None) -> Problem:
    """A problem from its specification, as `fedatlas.federation.problems.create` makes it.

    Own data, and data that come with a package, are prepared if they are not; other data must have been fetched. spec:
    its ``data`` and ``test`` are names, or mappings of own data. directory: where prepared data are. Raises UserError
    on a specification that does not fit, and on data that are not there.
    """
    spec = resolve_data_names(spec)
    kind, given = problems.parse(spec)
    names = _names(spec)
    folder = _directory(names, directory)
    check(kind, given, folder)
    for name in names:
        if _free(name):
            prepare(name, folder)
    partition = None
    if names and partitions.is_owned(spec.get("partition")):
        partitions.number(spec["partition"], sources.info(names[0], folder).clients, clients)
        labels = prepared.load(names[0], folder).y
        partition = partitions.split(spec["partition"], labels, clients, load_owners(names[0], folder))
    return problems.create(spec, clients, folder, partition)


def _names(spec: Mapping[str, Any]) -> list[str]:
    """The data sets of a problem."""
    return [sources.name(spec[key]) for key in DATA_KEYS if spec.get(key)]


def _free(name: str) -> bool:
    """Whether data are there without a download."""
    return is_custom(name) or sources.info(name).embedded


def _directory(names: Iterable[str], directory: str | Path | None) -> Path:
    """The data directory of a call.

    It is the one that is named, by argument or by FEDATLAS_DATA, or ``data`` in the working directory, where it is
    there. Data that are free and not prepared there need a folder that can be written to: otherwise it is the user's
    cache.
    """
    root = resolve_directory(directory)
    missing = [name for name in names if _free(name) and prepared.read_meta(prepared_folder(root, name)) is None]
    if not missing or _writable(root, asked=bool(directory or os.environ.get("FEDATLAS_DATA"))):
        return root
    if others := [name for name in names if not _free(name)]:
        raise UserError(f"{root} cannot be written to: name a folder with FEDATLAS_DATA, and fetch {others[0]} into it")
    return cache_folder()


def _writable(root: Path, asked: bool) -> bool:
    """Whether data can be prepared in a folder. asked: whether it was named, so that it is made if it is not there."""
    if root.exists():
        return root.is_dir() and os.access(root, os.W_OK | os.X_OK)
    above = next((one for one in root.absolute().parents if one.exists()), None)
    return asked and above is not None and above.is_dir() and os.access(above, os.W_OK | os.X_OK)
