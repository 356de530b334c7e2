"""fedatlas: an executable atlas of federated optimisation.

``train`` runs one algorithm on one problem: a specification, or one of plain arrays (``Logistic``, ``Softmax``,
``Network``, ``Quadratic``), which ``partitions`` splits over clients. ``plot`` draws what it returned. ``load_results``
reads what the workflow made, whose file is ``SNAKEFILE``. ``FederatedLogisticRegression`` is a scikit-learn estimator.
``UserError`` is raised on all input that does not fit; it is a ValueError. docs/how-to/python.md shows them.
"""

import importlib
from typing import Any

_HOMES = {
    "FederatedLogisticRegression": "fedatlas.api.estimator",
    "Logistic": "fedatlas.federation.problems.from_arrays",
    "Network": "fedatlas.federation.networks.of_arrays",
    "Quadratic": "fedatlas.federation.problems.quadratic",
    "SNAKEFILE": "fedatlas.workflow.project",
    "Softmax": "fedatlas.federation.problems.from_arrays",
    "UserError": "fedatlas.errors",
    "load_results": "fedatlas.api.frames",
    "plot": "fedatlas.api.plotting",
    "train": "fedatlas.api.train",
}
__all__ = sorted([*_HOMES, "partitions"])


def __getattr__(name: str) -> Any:
    # jobs of the workflow must not pay for what a notebook uses
    if name == "partitions":
        return importlib.import_module("fedatlas.federation.partitions")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'fedatlas' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
