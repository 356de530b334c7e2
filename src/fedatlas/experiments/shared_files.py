"""Paths of the files that several experiments share, partitions and optima, and the origins that name them."""

import hashlib
import json
from typing import Any

from fedatlas.data import sources
from fedatlas.experiments.canonical import canonical_problem
from fedatlas.experiments.cells import CellSpec, slug
from fedatlas.federation import problems
from fedatlas.federation.partitions import PARTITIONS, is_split
from fedatlas.federation.problems.base import DataKind


def partition_file(spec: CellSpec) -> tuple[str, dict[str, Any]]:
    """Return the path of the partition of a cell's data, and its origin: ``data``, ``partition`` and ``clients``."""
    partition, clients = PARTITIONS.canonical(spec.problem["partition"]), spec.setting["clients"]
    key = f"{spec.problem['data']}-{slug(partition)}-clients={clients}".replace("kind=", "")
    origin = {"data": spec.problem["data"], "partition": partition, "clients": clients}
    return f"results/partitions/{key}.npz", origin


def partition_path(spec: CellSpec) -> str | None:
    """Return the path of the partition of a cell's data; None where they are not split."""
    return partition_file(spec)[0] if is_split(spec.problem.get("partition")) else None


def optimum_file(spec: CellSpec) -> tuple[str, dict[str, Any]]:
    """Return the path of the optimum of a cell's problem, and its origin.

    The origin is ``problem`` and ``clients``, and ``partition``, a file, if F depends on the rows of each client. Where
    it does not, problems that differ in their partition or number of clients share the optimum.
    """
    problem = {key: value for key, value in canonical_problem(spec.problem).items() if key != "test"}
    clients, partition = spec.setting.get("clients", 1), {}
    if "data" in problem:
        if _is_pooled(problem, clients):
            dropped = ("partition", "weights") if is_split(problem.get("partition")) else ("partition",)
            problem, clients = {key: value for key, value in problem.items() if key not in dropped}, 1
        else:
            partition = {"partition": partition_file(spec)[0]}
    digest = hashlib.sha256(json.dumps({**problem, "clients": clients}, sort_keys=True).encode()).hexdigest()[:10]
    key = f"{problem['kind']}-{problem.get('data', 'synthetic')}-{digest}"
    return f"results/optima/{key}.npz", {"problem": problem, "clients": clients, **partition}


def _is_pooled(problem: dict[str, Any], clients: int) -> bool:
    """Return whether F of a problem on data is the mean over all rows, whichever client has them."""
    if not is_split(problem.get("partition")):
        return True
    if problem.get("validation") or problem.get("test_share"):  # the rows held out are a share of each client's
        return False
    kind, _ = problems.parse(problem)
    split = PARTITIONS.build(problem["partition"])
    return isinstance(kind, DataKind) and kind.is_pooled(split, sources.info(problem["data"]).rows, clients)
