"""The conditions of a problem that a reader can name: how clients differ, who is there, how exact gradients are."""

from collections.abc import Mapping
from typing import Any

QUESTIONS = {
    "hessians": ("Are the clients' Hessians alike?", {"alike": "alike", "unlike": "not alike"}),
    "optima": ("Do their optima lie far apart?", {"near": "near", "far": "far"}),
    "clients": ("Who takes part in a round?", {"all": "all", "some": "a drawn share", "unstable": "whoever is there"}),
    "gradients": ("How exact are gradients?", {"exact": "exact", "batch": "of minibatches", "sample": "of one sample"}),
}
ALIKE = 0.05  # delta_B over L up to which Hessians are alike
NEAR = 1.0  # distance of the clients' own optima from a common point up to which they are near
EVEN = 10.0  # Dirichlet's alpha from which on labels are spread evenly, so that clients are alike in both


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
    if "data" in problem:
        partition = problem.get("partition") or "iid"
        kind, alpha = (partition, None) if isinstance(partition, str) else (partition["kind"], partition.get("alpha"))
        even = kind in ("iid", "shared") or (alpha is not None and alpha >= EVEN)
        return {"hessians": "alike" if even else "unlike", "optima": "near" if even else "far"}
    ratio = problem.get("similarity", 0.0) / problem.get("L", 100.0)
    distance = problem.get("heterogeneity", problem.get("scatter", 0.0))
    return {"hessians": "alike" if ratio <= ALIKE else "unlike", "optima": "near" if distance <= NEAR else "far"}


def _participation(participation: Any) -> str:
    if participation is None:
        return "all"
    kind = participation["kind"] if isinstance(participation, Mapping) else participation
    return {"full": "all", "uniform": "some", "bernoulli": "some"}.get(kind, "unstable")
