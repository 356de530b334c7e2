"""Code that is compiled or written out by hand for speed. The rest of the package imports this module alone.

``lockstep`` with ``kernels`` and ``drawing``: rounds of one-sample local steps on logistic data, for all step sizes of
a tuning grid in one pass over the draws. ``scoring``: metrics of sparse logistic data at all step sizes of a grid.
``sparse_gradients``: its gradients on all rows of a client. ``sequential`` with ``passes``, ``pooling`` and ``dense``:
the gradient of a sequential network in one call, which holds no lock of Python. ``dense_rows``: minibatch gradients of
softmax regression. ``simd``: vectors of numbers, in which they are written. benchmarks/README.md has what each gains.

All parts are imported inside functions, since numba and torch take seconds to import. The results of a cell depend on
the parts that `fedatlas.federation.compiled.modules` names and on no others.
"""

from collections.abc import Sequence
from typing import Any

from fedatlas.federation.compiled import conditions


def rounds(simulations: Sequence[Any]) -> Any:
    """Return the Kernel that advances simulations of one problem, setting and seed together, or None if there is none.

    simulations: On logistic data.
    """
    if not conditions.lockstep_simulations(simulations):
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
