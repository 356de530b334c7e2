"""Code that is compiled or written out by hand for speed. The rest of the package imports this module alone.

It has the recurrences that compiled rounds compute, the functions by which each part is entered, and the conditions
under which rounds are compiled. The parts are:

``lockstep`` with ``kernels``: rounds of one-sample local steps on logistic data, for all step sizes of a tuning grid in
one pass over the draws. ``scoring``: metrics of sparse logistic data at all step sizes of a grid.
``sparse_gradients``: its gradients on all rows of a client. ``sequential`` with ``passes``, ``pooling`` and ``dense``:
the gradient of a sequential network in one call, which holds no lock of Python. ``dense_rows``: minibatch gradients of
softmax regression. ``simd``: vectors of numbers, in which they are written. benchmarks/README.md has what each gains.

All parts are imported inside functions, since numba and torch take seconds to import. The results of a cell depend on
the parts that `compiled_modules` names and on no others.
"""

from collections.abc import Mapping, Sequence
from typing import Any

COMPILED = __name__  # what enters the compiled parts imports it
LOCKSTEP = [f"{COMPILED}.{module}" for module in ("kernels", "lockstep", "simd")]
SPARSE = [f"{COMPILED}.{module}" for module in ("scoring", "simd", "sparse_gradients")]
SEQUENTIAL = [f"{COMPILED}.sequential"]
PASSES = [f"{COMPILED}.{module}" for module in ("dense", "passes", "plans", "pooling", "simd")]
DENSE_ROWS = [f"{COMPILED}.{module}" for module in ("dense_rows", "simd")]
COMPILED_MODULES = sorted({*LOCKSTEP, *SPARSE, *SEQUENTIAL, *PASSES, *DENSE_ROWS})
WITHOUT_PASSES = ("resnet18",)  # architectures whose gradient no compiled call computes


def rounds(simulations: Sequence[Any]) -> Any:
    """Return the Kernel that advances simulations together, or None if there is none.

    Args:
        simulations: Simulations on logistic data, of one problem, setting and seed.
    """
    if not lockstep_simulations(simulations):
        return None
    from fedatlas.federation.compiled.lockstep import Kernel

    return Kernel(simulations)


def mean_scores(rows: tuple[Any, ...], weights: Any, points: Sequence[Any]) -> tuple[Any, ...]:
    """Return mean losses and accuracies of sparse logistic rows at points; see `scoring.mean_scores`."""
    from fedatlas.federation.compiled import scoring

    return scoring.mean_scores(rows, weights, points)


def sparse_rows(A: Any) -> Any:
    """Return sparse features in doubles with the gradients of their losses; see `sparse_gradients.SparseRows`."""
    from fedatlas.federation.compiled.sparse_gradients import SparseRows

    return SparseRows(A)


def softmax_rows(A: Any, y: Any, dtype: Any, scale: float, bias: bool) -> Any:
    """Return dense rows with the gradients of their minibatches; see `dense_rows.DenseRows`."""
    from fedatlas.federation.compiled.dense_rows import DenseRows

    return DenseRows(A, y, dtype, scale, bias)


def fuse(module: Any, shape: Sequence[int]) -> Any:
    """Return the compiled Passes of a torch module for samples of a shape, or None; see `sequential.fuse`."""
    from fedatlas.federation.compiled import sequential

    return sequential.fuse(module, shape)


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


def lockstep_simulations(simulations: Sequence[Any]) -> bool:
    """Return whether simulations of one problem, setting and seed advance in lockstep.

    Besides what their specification says, nothing is clipped, no losses are recorded, and the recurrences of the
    algorithms have the same vectors.

    Args:
        simulations: Simulations on logistic data.
    """
    setting, problem = simulations[0].setting, simulations[0].problem
    if problem.one_sample_rows is None or setting.clip is not None or setting.records_losses:
        return False
    if not all(lockstep_specification(simulation.algorithm, vars(setting)) for simulation in simulations):
        return False
    recurrences = [simulation.algorithm.recurrence(setting.local_steps) for simulation in simulations]
    pooled = {simulation.algorithm.pooled for simulation in simulations}
    return None not in recurrences and len({recurrence.fields for recurrence in recurrences}) == len(pooled) == 1


def lockstep_specification(algorithm: Any, setting: Mapping[str, Any]) -> bool:
    """Return whether runs on logistic data that all clients share may advance in lockstep.

    In each of their rounds every client takes part and draws one sample for each local step, with one step size; all
    numbers are sent as they are.

    The function is asked of specifications, to say which compiled parts a result depends on, and of simulations, before
    they run. So a simulation runs compiled only if its specification says that it may.

    Args:
        algorithm: Algorithm or its class.
        setting: Specification of the setting, or its options with defaults.
    """
    return (
        algorithm.overrides("recurrence")
        and setting.get("batch", 1) == 1
        and setting.get("local_epochs") is None
        and kind(setting.get("sampling", "replacement")) == "replacement"
        and kind(setting.get("participation", "full")) in ("full", None)
        and kind(setting.get("schedule", "constant")) in ("constant", None)
        and not coded(setting.get("channel"))
        and kind(setting.get("driver", "synchronous")) in ("synchronous", None)
    )


def coded(channel: Any) -> bool:
    """Return whether a specification of channels names another than the identity, up or down."""
    parts = channel.values() if isinstance(channel, Mapping) and "kind" not in channel else [channel]
    return any(kind(part) not in ("identity", None) for part in parts)


def kind(spec: Any) -> Any:
    """Return the kind that a specification names, a name or a mapping with ``kind``; None if it names none."""
    return spec.get("kind") if isinstance(spec, Mapping) else spec
