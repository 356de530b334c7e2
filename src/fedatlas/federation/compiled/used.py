"""Which compiled modules a run may use, from its specification alone."""

from collections.abc import Mapping
from typing import Any

PACKAGE = "fedatlas.federation.compiled"
LOCKSTEP = [f"{PACKAGE}.{part}" for part in ("kernels", "lockstep", "simd")]
SEQUENTIAL = [f"{PACKAGE}.sequential"]
POOLING = [f"{PACKAGE}.{part}" for part in ("pooling", "simd")]
MODULES = sorted({*LOCKSTEP, *SEQUENTIAL, *POOLING})
WITHOUT_POOLING = ("linear", "mlp", "resnet18")


def uses(algorithm: type, problem: Mapping[str, Any], setting: Mapping[str, Any]) -> list[str]:
    """Full names of the compiled modules that a run of a specification may use, sorted.

    algorithm: the class. problem, setting: specifications of one run. The answer is found from them alone, so it may
    name more than what runs, but never less.
    """
    found: list[str] = []
    if problem.get("kind") == "network":
        found += SEQUENTIAL
        if _kind(problem.get("architecture", "mlp")) not in WITHOUT_POOLING:
            found += POOLING
    elif problem.get("kind") == "logistic" and _in_lockstep(algorithm, problem, setting):
        found += LOCKSTEP
    return sorted(found)


def _in_lockstep(algorithm: Any, problem: Mapping[str, Any], setting: Mapping[str, Any]) -> bool:
    """Whether a run on logistic data may satisfy the conditions of ``Logistic.kernel``."""
    return (
        algorithm.overrides("recurrence")
        and _kind(problem.get("partition", "shared")) in ("shared", None)
        and setting.get("batch", 1) == 1
        and setting.get("local_epochs") is None
        and setting.get("sampling", "replacement") == "replacement"
        and _kind(setting.get("participation", "full")) in ("full", None)
        and _kind(setting.get("schedule", "constant")) in ("constant", None)
    )


def _kind(spec: Any) -> Any:
    """The kind that a specification names: a name alone, or a mapping with ``kind``; None if it names none."""
    return spec.get("kind") if isinstance(spec, Mapping) else spec
