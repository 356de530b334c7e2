"""The conditions of a problem that a reader can name: how clients differ, who is there, how exact gradients are."""

from collections.abc import Mapping
from typing import Any

QUESTIONS = {
    "hessians": ("Do the clients' Hessians differ?", {"alike": "little", "moderate": "somewhat", "unlike": "much"}),
    "optima": ("Do their optima lie far apart?", {"near": "near", "moderate": "somewhat", "far": "far"}),
    "clients": ("Who takes part in a round?", {"all": "all", "some": "a drawn share", "unstable": "whoever is there"}),
    "gradients": ("How exact are gradients?", {"exact": "exact", "batch": "of minibatches", "sample": "of one sample"}),
}
ALIKE, UNLIKE = 0.02, 0.4  # delta_B over L of quadratics below and above which clients are alike and unlike
FAR = 5.0  # distance of optima from which on they lie far apart
EVEN, UNEVEN = 10.0, 1.0  # Dirichlet's alpha above and below which labels are spread evenly and unevenly


def conditions(problem: Mapping[str, Any], setting: Mapping[str, Any]) -> dict[str, str]:
    """Return the answers to the questions of which a problem and a setting are an example.

    Args:
        problem: Specification of the problem.
        setting: Keys of the setting.
    """
    return {
        **_differences(problem),
        "clients": _participation(setting.get("participation")),
        "gradients": {None: "exact", 1: "sample"}.get(setting.get("batch"), "batch"),
    }


def _differences(problem: Mapping[str, Any]) -> dict[str, str]:
    if "data" not in problem:
        similarity, L = problem.get("similarity", 0.0), problem.get("L", 100.0)
        ratio = similarity / L
        distance = problem.get("heterogeneity", 1.0)
        return {
            "hessians": "alike" if ratio <= ALIKE else "unlike" if ratio >= UNLIKE else "moderate",
            "optima": "near" if distance == 0 else "far" if distance >= FAR else "moderate",
        }
    partition = problem.get("partition") or {"kind": "iid"}
    partition = {"kind": partition} if isinstance(partition, str) else partition
    alpha = partition.get("alpha")
    if partition["kind"] in ("iid", "shared") or (alpha is not None and alpha >= EVEN):
        return {"hessians": "alike", "optima": "near"}
    unlike = alpha is None or alpha < UNEVEN
    return {"hessians": "unlike" if unlike else "moderate", "optima": "far" if unlike else "moderate"}


def _participation(participation: Any) -> str:
    if participation is None:
        return "all"
    kind = participation["kind"] if isinstance(participation, Mapping) else participation
    return {"full": "all", "uniform": "some", "bernoulli": "some"}.get(kind, "unstable")
