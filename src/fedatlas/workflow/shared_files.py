"""Paths of the files that several experiments share, partitions and optima, and the origins that name them."""

import hashlib
import json
from typing import Any

from fedatlas.experiments.cells import CellSpec, slug
from fedatlas.federation.partitions import is_by_owner


def partition_file(spec: CellSpec) -> tuple[str, dict[str, Any]]:
    """Return the path of the partition of a cell's data, and its origin: ``data``, ``partition`` and ``clients``."""
    partition, clients = spec.problem["partition"], spec.setting["clients"]
    name = slug({"kind": partition} if isinstance(partition, str) else partition)
    key = f"{spec.problem['data']}-{name}-clients={clients}".replace("kind=", "")
    origin = {"data": spec.problem["data"], "partition": partition, "clients": clients}
    return f"results/partitions/{key}.npz", origin


def optimum_file(spec: CellSpec) -> tuple[str, dict[str, Any]]:
    """Return the path of the optimum of a cell's problem, and its origin.

    The origin is ``problem`` and ``clients``, and ``partition``, a file, if the partition is by the clients of the
    data.
    """
    problem = {key: value for key, value in spec.problem.items() if key != "test"}
    clients = spec.setting.get("clients", 1)
    digest = hashlib.sha256(json.dumps({**problem, "clients": clients}, sort_keys=True).encode()).hexdigest()[:10]
    key = f"{problem['kind']}-{problem.get('data', 'synthetic')}-{digest}"
    origin = {"problem": problem, "clients": clients}
    if is_by_owner(problem.get("partition")):
        origin["partition"] = partition_file(spec)[0]
    return f"results/optima/{key}.npz", origin
