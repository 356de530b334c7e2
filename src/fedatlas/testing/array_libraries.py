"""Conformance tests on array libraries: NumPy, torch, and single precision."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, cast
from unittest import mock

import numpy as np

from fedatlas.federation.arrays import Vectors, is_torch, to_numpy
from fedatlas.federation.engine.simulation import run_simulations
from fedatlas.testing import instances
from fedatlas.testing.hooks import HookInterceptor, call_hook, run_with_hooks
from fedatlas.testing.implementation import Implementation, defined_cases, require_finite
from fedatlas.testing.outcomes import Failed, NotApplicable, describe_error

CONDITIONS: dict[str, dict[str, Any]] = {
    "all clients": {"batch": 3},
    "some clients, or none": {"participation": {"kind": "stationary", "p": 0.3}},
    "full gradients": {"batch": None, "participation": {"kind": "uniform", "count": 3}},
    "full gradients of all clients": {"batch": None},
}
ADVICE = "take norm, dot, sqrt, maximum, where and the like from fedatlas.federation.arrays, which take both"


@functools.cache
def twins() -> dict[str, tuple[Any, Any]]:
    """Return problems of NumPy with their torch twins, by label."""
    logistic, softmax = instances.logistic(), instances.softmax(start_scale=1.0)
    return {
        "logistic regression": (logistic, instances.twin(logistic, "logistic")),
        "softmax regression": (softmax, instances.twin(softmax, "cross-entropy")),
    }


def numpy_and_torch(implementation: Implementation) -> None:
    """NumPy arrays and torch tensors give the same run to rounding, and no hook calls NumPy with tensors."""
    partial = implementation.partial_participation
    conditions = {label: options for label, options in CONDITIONS.items() if partial or "participation" not in options}
    (first, (problem, _)), *others = twins().items()
    cases = [(f"{first}, {label}", problem, options) for label, options in conditions.items()]
    cases += [(f"{kind}, all clients", problem, CONDITIONS["all clients"]) for kind, (problem, _) in others]
    for label, problem, condition in defined_cases(implementation, cases):
        twin = twins()[label.partition(",")[0]][1]
        options = {"rounds": 5, "eval_rounds": 1, "seed": 4, **condition}
        history = implementation.run(problem, **options)
        require_finite(history, label, "give other hyper-parameters with --set.")
        values = {**implementation.known_constants(problem), **implementation.values}
        simulation = implementation.simulate(twin, values=values, **options)
        simulation.algorithm = cast(Any, HookInterceptor(simulation.algorithm, _call_with_tensors))
        torch_history = run_simulations([simulation], kernels=False)[0]
        if not np.allclose(history.x, to_numpy(torch_history.x), rtol=1e-12, atol=1e-12):
            distance = np.abs(history.x - to_numpy(torch_history.x)).max()
            raise Failed(f"On {label}, the outputs of NumPy and torch differ by {distance:.2g}: {ADVICE}.")
        for row, torch_row in zip(history.rows, torch_history.rows, strict=True):
            for key in row:
                if key != "seconds" and not np.isclose(row[key], torch_row[key], rtol=1e-12, atol=1e-12):
                    raise Failed(
                        f"On {label}, the {key} of NumPy and torch differ after round {row['round']}: {ADVICE}."
                    )


def single_precision(implementation: Implementation) -> None:
    """Vectors in float32 stay in float32."""
    if "prox" in implementation.cls.requires:
        raise NotApplicable("No problem in float32 has an exact proximal step.")
    simulation = run_with_hooks(implementation.simulate(instances.logistic(dtype=np.float32)), call_hook, rounds=2)
    names = [name for name, value in simulation.s.items() if getattr(value, "dtype", None) == np.float64]
    names += ["the output"] if simulation.output.dtype != np.float32 else []
    if names:
        cause = "a number of NumPy, such as np.sqrt(2), makes them float64: use the functions of math for plain numbers"
        raise Failed(f"On data in float32, {', '.join(names)} becomes float64: {cause}.")


def _call_with_tensors(hook: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Call a hook with tensors that refuse to become NumPy arrays. Raises Failed if it converts or returns one."""
    with _refuse_conversion():
        try:
            result = function(*arguments)
        except _ConversionError as error:
            location = describe_error(error).partition("(")[2].rstrip(").")
            raise Failed(f"The hook {hook} calls NumPy with a torch tensor: {ADVICE}. It is in {location}.") from None
    for state in result if isinstance(result, tuple) else (result,):
        for name, value in state.items() if isinstance(state, Vectors) else ():
            if hasattr(value, "shape") and not is_torch(value):
                raise Failed(f"The hook {hook} returns {name} as a NumPy array where it is given tensors: {ADVICE}.")
    return result


class _ConversionError(Exception):
    """A hook converts a torch tensor to a NumPy array."""


@contextlib.contextmanager
def _refuse_conversion() -> Iterator[None]:
    import torch

    def refuse(self: Any, *_: Any, **__: Any) -> Any:
        raise _ConversionError

    with mock.patch.object(torch.Tensor, "__array__", refuse):
        yield
