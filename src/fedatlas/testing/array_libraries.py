"""Conformance test that an algorithm runs on NumPy arrays and torch tensors alike."""

from typing import Any
from unittest import mock

import numpy as np

from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.engine.history import History
from fedatlas.testing import instances
from fedatlas.testing.implementation import Implementation, defined_cases, require_finite
from fedatlas.testing.outcomes import Failed, describe_error

CONDITIONS: dict[str, dict[str, Any]] = {
    "all clients": {"batch": 3},
    "some clients, or none": {"participation": {"kind": "stationary", "p": 0.3}},
    "full gradients": {"batch": None, "participation": {"kind": "uniform", "count": 3}},
    "full gradients of all clients": {"batch": None},
}
ADVICE = "take norm, dot, sqrt, maximum, where and the like from fedatlas.federation.arrays, which take both"


def numpy_and_torch(implementation: Implementation) -> None:
    """NumPy arrays and torch tensors give the same run to rounding, and no hook calls NumPy with tensors."""
    problem = instances.logistic()
    twin = instances.twin(problem)
    cases = ((label, problem, options) for label, options in CONDITIONS.items())
    for label, _, condition in defined_cases(implementation, cases):
        options = {"rounds": 5, "eval_rounds": 1, "seed": 4, **condition}
        history = implementation.run(problem, **options)
        require_finite(history, label, "give other hyper-parameters with --set.")
        values = {**implementation.known_constants(problem), **implementation.values}
        torch_history = _run_with_tensors(implementation, twin, values=values, **options)
        if not np.allclose(history.x, to_numpy(torch_history.x), rtol=1e-12, atol=1e-12):
            distance = np.abs(history.x - to_numpy(torch_history.x)).max()
            raise Failed(f"On {label}, the outputs of NumPy and torch differ by {distance:.2g}: {ADVICE}.")
        for row, torch_row in zip(history.rows, torch_history.rows, strict=True):
            for key in row:
                if key != "seconds" and not np.isclose(row[key], torch_row[key], rtol=1e-12, atol=1e-12):
                    raise Failed(
                        f"On {label}, the {key} of NumPy and torch differ after round {row['round']}: {ADVICE}."
                    )


class _ConversionError(Exception):
    """A torch tensor is converted to a NumPy array."""


def _run_with_tensors(implementation: Implementation, problem: Any, **options: Any) -> History:
    """Return the History of a run with tensors that refuse to become NumPy arrays. Raises Failed if a hook asks."""
    import torch

    def refuse(self: Any, *_: Any, **__: Any) -> Any:
        raise _ConversionError

    with mock.patch.object(torch.Tensor, "__array__", refuse):
        try:
            return implementation.run(problem, **options)
        except _ConversionError as error:
            location = describe_error(error).partition("(")[2].rstrip(").")
            raise Failed(f"A hook calls NumPy with a torch tensor: {ADVICE}. It is in {location}.") from None
