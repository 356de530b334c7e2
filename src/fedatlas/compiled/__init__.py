"""What is compiled or written out by hand for speed. The rest of the package imports this module alone.

The gain of each part, as measured by the scripts in benchmarks/ (see benchmarks/README.md):

``lockstep`` with ``kernels``: rounds of one-sample local steps on logistic data, for all step sizes of a tuning grid in
one pass over the draws. A local step costs 22 to 450 times less than in plain NumPy, and 129 to 2089 times less for
each of thirteen step sizes.

``sequential``: gradients of sequential networks written out instead of recorded by autograd, and ``pooling``:
convolution, 2x2 max pooling and ReLU in one. Rounds of LeNet with minibatches of twenty images are twice as fast as a
plain torch loop.

``simd``: vectors of numbers, in which ``kernels`` and ``pooling`` are written.

All parts are loaded by name, and only when asked for: numba and torch take seconds to import, and the results of a cell
depend on the parts that ``uses`` names and on no others.
"""

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

LOCKSTEP = [f"{__name__}.{part}" for part in ("kernels", "lockstep", "simd")]
SEQUENTIAL = [f"{__name__}.sequential"]
POOLING = [f"{__name__}.{part}" for part in ("pooling", "simd")]
MODULES = sorted({*LOCKSTEP, *SEQUENTIAL, *POOLING})
WITHOUT_POOLING = ("linear", "mlp", "resnet18")


def rounds(simulations: Sequence[Any]) -> Any:
    """A Kernel that advances simulations of one problem on logistic data, one setting and one seed together, or None if
    there is none for them."""
    return importlib.import_module(f"{__name__}.lockstep").kernel(simulations)


def layers(module: Any) -> Any:
    """The Layers of a torch module, with gradients written out, or None if some of it is unknown."""
    return importlib.import_module(f"{__name__}.sequential").fuse(module)


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
    """Whether a run on logistic data may satisfy ``lockstep.fit``."""
    return (
        algorithm.has("recurrence")
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
