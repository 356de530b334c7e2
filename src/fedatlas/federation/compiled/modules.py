"""The compiled modules that a run may use, from its specification alone."""

from collections.abc import Mapping
from typing import Any

from fedatlas.federation.compiled import kind, lockstep_specification

PACKAGE = "fedatlas.federation.compiled"
LOCKSTEP = [f"{PACKAGE}.{module}" for module in ("drawing", "kernels", "lockstep", "simd")]
SPARSE = [f"{PACKAGE}.{module}" for module in ("scoring", "simd", "sparse_gradients")]
SEQUENTIAL = [f"{PACKAGE}.sequential"]
PASSES = [f"{PACKAGE}.{module}" for module in ("dense", "passes", "plans", "pooling", "simd")]
DENSE_ROWS = [f"{PACKAGE}.{module}" for module in ("dense_rows", "simd")]
MODULES = sorted({*LOCKSTEP, *SPARSE, *SEQUENTIAL, *PASSES, *DENSE_ROWS})
WITHOUT_PASSES = ("resnet18",)


def compiled_modules(algorithm: Any, problem: Mapping[str, Any], setting: Mapping[str, Any]) -> list[str]:
    """Return the full names of the compiled modules that a run of a specification may use, sorted.

    The names follow from the specification alone, so they may include modules that the run does not use, but never
    leave one out.

    Args:
        algorithm: Class of the algorithm.
        problem: Specification of the problem.
        setting: Specification of the setting of one run.
    """
    modules: list[str] = []
    if problem.get("kind") == "network":
        modules += SEQUENTIAL
        if kind(problem.get("architecture", "mlp")) not in WITHOUT_PASSES:
            modules += PASSES
    elif problem.get("kind") == "softmax":
        modules += DENSE_ROWS
    elif problem.get("kind") in ("logistic", "coin"):  # a coin is logistic regression
        modules += SPARSE
        shared = kind(problem.get("partition", "shared")) in ("shared", None)
        if shared and lockstep_specification(algorithm, setting):
            modules += LOCKSTEP
    return sorted({*modules})
