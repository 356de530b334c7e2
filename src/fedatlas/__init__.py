"""fedatlas: an executable atlas of federated optimisation.

``train`` runs one algorithm on one problem: a specification, or a problem of plain arrays (``Logistic``, ``Softmax``,
``Network``, ``Quadratic``), which ``partitions`` splits over clients. ``sweep`` runs grids. ``plot`` draws what they
return. ``load_results`` reads what the workflow computed, whose file is ``SNAKEFILE``. ``FederatedLogisticRegression``
is a scikit-learn estimator. ``UserError`` is raised on all input that does not fit; it is a ValueError.
docs/how-to/python.md shows them.

The other names are what extensions derive from and use: ``Algorithm``, ``State``, ``option`` and so on;
docs/how-to/algorithm.md and adding.md have an example of each.

A name is imported when it is first used, from the module that ``__init__.pyi`` says, because jobs of the workflow must
not load what a notebook uses. What a result depends on is that module alone: `fedatlas.experiments.fingerprint` reads
the table below.
"""

import ast
import importlib
import sys
from pathlib import Path

if sys.platform == "win32":
    raise ImportError("fedatlas runs on Linux and macOS, with bash and their locks on files; on Windows, use it in WSL")

MODULES = ("arrays", "labels", "partitions")  # that are names themselves
# The module that defines each name.
EXPORTS = {
    alias.name: f"{node.module}.{alias.name}" if alias.name in MODULES else f"{node.module}"
    for node in ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}
__all__ = sorted(EXPORTS)


def __getattr__(name: str) -> object:
    if name not in EXPORTS:
        raise AttributeError(f"module 'fedatlas' has no attribute {name!r}")
    module = importlib.import_module(EXPORTS[name])
    return module if name in MODULES else getattr(module, name)


def __dir__() -> list[str]:
    return __all__
