"""Checks that hooks do not depend on the array library or the precision of numbers."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np

from fedatlas.federation.arrays import State, is_torch, to_numpy
from fedatlas.federation.engine.simulation import run_simulations
from fedatlas.testing import instances
from fedatlas.testing.candidate import Candidate, Run, require_finite, where_defined
from fedatlas.testing.findings import Failed, NotApplicable, told
from fedatlas.testing.hooks import Watched, watch

SETTINGS: dict[str, dict[str, Any]] = {
    "all clients": {"batch": 3},
    "some clients, or none": {"participation": {"kind": "stationary", "p": 0.3}},
    "full gradients": {"batch": None, "participation": {"kind": "uniform", "count": 3}},
    "full gradients of all clients": {"batch": None},
}
USE = "take norm, dot, sqrt, maximum, where and the like from fedatlas.federation.arrays, which take both"


@functools.cache
def pairs() -> dict[str, tuple[Any, Any]]:
    """Problems of NumPy with their torch twins."""
    logistic, softmax = instances.logistic(), instances.softmax(start_scale=1.0)
    return {
        "logistic regression": (logistic, instances.twin(logistic, "logistic")),
        "softmax regression": (softmax, instances.twin(softmax, "cross-entropy")),
    }


def numpy_and_torch(candidate: Candidate) -> None:
    """NumPy arrays and torch tensors give the same run to rounding, and no hook calls NumPy with tensors."""
    for words, ours, options in where_defined(candidate, _cases(candidate)):
        theirs = pairs()[words.partition(",")[0]][1]
        options = {"rounds": 6, "eval_rounds": 1, "seed": 4, **options}
        plain = candidate.run(ours, **options)
        require_finite(plain, words, "give other hyper-parameters with --set.")
        asked = {name: one.constant for name, one in candidate.cls.options().items() if one.constant}
        known = {name: value for name, constant in asked.items() if (value := ours.constant(constant)) is not None}
        twin = candidate.simulate(theirs, values={**known, **candidate.values}, **options)
        twin.algorithm = Watched(twin.algorithm, functools.partial(_on_tensors, candidate))
        other = run_simulations([twin], kernels=False)[0]
        if not np.allclose(plain.x, to_numpy(other.x), rtol=1e-12, atol=1e-12):
            far = np.abs(plain.x - to_numpy(other.x)).max()
            raise Failed(f"On {words}, the outputs of NumPy and torch differ by {far:.2g}: {USE}.")
        for one, row in zip(plain.rows, other.rows, strict=True):
            wrong = [
                key for key in one if key != "seconds" and not np.isclose(one[key], row[key], rtol=1e-12, atol=1e-12)
            ]
            if wrong:
                raise Failed(f"On {words}, the {wrong[0]} of NumPy and torch differ after round {one['round']}: {USE}.")


def _cases(candidate: Candidate) -> Iterator[Run]:
    settings = {name: one for name, one in SETTINGS.items() if candidate.attending or "participation" not in one}
    for kind, (ours, _) in pairs().items():
        for words, options in settings.items():
            yield f"{kind}, {words}", ours, options


def _on_tensors(candidate: Candidate, hook: str, function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """What a hook returns for tensors that refuse to become NumPy arrays.

    Raises Failed if the hook makes one of them an array, or returns an array.
    """
    with _tensors_stay_tensors():
        try:
            result = function(*given)
        except _Converted as error:
            raise Failed(f"The hook {hook} calls NumPy with a torch tensor: {USE}. {_place(error)}") from None
    for state in result if isinstance(result, tuple) else (result,):
        for name, value in state.items() if isinstance(state, State) else ():
            if hasattr(value, "shape") and not is_torch(value):
                raise Failed(f"The hook {hook} returns {name} as a NumPy array where it is given tensors: {USE}.")
    return result


class _Converted(Exception):
    """A torch tensor was to become a NumPy array."""


@contextlib.contextmanager
def _tensors_stay_tensors() -> Iterator[None]:
    import torch

    def refuse(self: Any, *_: Any, **__: Any) -> Any:
        raise _Converted

    with mock.patch.object(torch.Tensor, "__array__", refuse):
        yield


def _place(error: Exception) -> str:
    """The line of the algorithm's file from which an exception came, as a sentence."""
    return f"It is in {told(error).partition('(')[2].rstrip(').')}."


def single_precision(candidate: Candidate) -> None:
    """Vectors in float32 stay in float32."""
    if candidate.cls.exact_prox:
        raise NotApplicable("No problem in float32 has an exact proximal step.")
    problem = instances.logistic(dtype=np.float32)
    simulation = candidate.simulate(problem)
    watch(simulation, lambda hook, function, given: function(*given), rounds=2)
    wide = [name for name, value in simulation.s.items() if getattr(value, "dtype", None) == np.float64]
    wide += ["the output"] if simulation.output.dtype != np.float32 else []
    if wide:
        cause = "a number of NumPy, such as np.sqrt(2), makes them float64: use the functions of math for plain numbers"
        raise Failed(f"On data in float32, {', '.join(wide)} becomes float64: {cause}.")
