"""Problems for notebooks and commands: data that need no download are prepared first."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fedatlas.data import sources
from fedatlas.data.dataset import load_prepared
from fedatlas.data.paths import cache_folder, prepared_folder, resolve_directory
from fedatlas.data.sources import is_custom
from fedatlas.data.store import prepare
from fedatlas.errors import UserError
from fedatlas.federation import partitions, problems
from fedatlas.federation.problems.base import Problem

DATA_KEYS = ("data", "test")  # keys of a problem's specification that name data sets


def resolve_data_names(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a problem's specification with names in place of mappings of custom data.

    Raises:
        UserError: A mapping does not fit.
    """
    resolved = dict(spec)
    for key in DATA_KEYS:
        if isinstance(resolved.get(key), Mapping):
            try:
                resolved[key] = sources.name(resolved[key])
            except UserError as error:
                raise UserError(f"problem.{key}: {error}") from None
    return resolved


def client_count(spec: Mapping[str, Any]) -> int | None:
    """Return the number of clients that the data of a problem name, or None if its partition is not by them.

    Args:
        spec: Specification of the problem.

    Raises:
        UserError: The partition is by the clients of the data, and the data name none.
    """
    if not partitions.is_by_owner(spec.get("partition")):
        return None
    data = sources.info(spec.get("data", ""), _data_directory(_data_names(spec)))
    return partitions.number_of_clients(spec["partition"], data.clients)


def create(spec: Mapping[str, Any], clients: int) -> Problem:
    """Create a problem as `fedatlas.federation.problems.create` does, and prepare its data first if possible.

    Custom data, and data that come with a package, are prepared if they are not yet; other data must have been fetched.

    Args:
        spec: Specification of the problem; its ``data`` and ``test`` are names, or mappings of custom data.
        clients: Number m of clients.

    Raises:
        UserError: The specification does not fit, or data must be fetched first.
    """
    spec = resolve_data_names(spec)
    kind, data_options = problems.parse(spec)  # a wrong option is reported before anything about the data
    names = _data_names(spec)
    folder = _data_directory(names)
    if data_options is not None and isinstance(kind, problems.DataKind):  # no data are prepared for a wrong problem
        kind.validate_data(sources.train_info(f"problem {kind.name}", data_options.data, data_options.test, folder))
        if data_options.partition is not None:
            partitions.PARTITIONS.build(data_options.partition)
    for name in filter(_needs_no_download, names):
        prepare(name, folder)
    partition = None
    if names and partitions.is_by_owner(spec.get("partition")):
        partitions.number_of_clients(spec["partition"], sources.info(names[0], folder).clients, clients)
        data = load_prepared(names[0], folder)
        partition = partitions.split(spec["partition"], data.y, clients, data.owner)
    return problems.create(spec, clients, folder, partition)


def identity(spec: Mapping[str, Any], clients: int) -> str:
    """Return a text that tells the problem of a specification, whose data are prepared, from all others.

    Args:
        spec: As of `create`.
        clients: Number m of clients.
    """
    spec = resolve_data_names(spec)
    names = _data_names(spec)
    folder = _data_directory(names)
    contents = [(prepared_folder(folder, name) / "meta.json").read_text(encoding="utf-8") for name in names]
    return json.dumps([spec, clients, contents], sort_keys=True, default=repr)


def _data_names(spec: Mapping[str, Any]) -> list[str]:
    return [sources.name(spec[key]) for key in DATA_KEYS if spec.get(key)]


def _needs_no_download(name: str) -> bool:
    return is_custom(name) or sources.info(name).embedded


def _data_directory(names: Iterable[str]) -> Path:
    """Return the data directory of a call: that of FEDATLAS_DATA, else ``data`` in the working directory.

    If the latter does not exist, and no data of the call need a download, it is the user's cache.

    Args:
        names: Data sets of the call.
    """
    root = resolve_directory()
    if os.environ.get("FEDATLAS_DATA") or root.exists() or not all(map(_needs_no_download, names)):
        return root
    return cache_folder()
