"""Conformance tests of reproducibility: a run depends on its specification alone, and hardly on the array library."""

import contextlib
import functools
import io
import itertools
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.engine.checkpoint import Checkpointer, Pairs, Stopped
from fedatlas.federation.engine.history import History
from fedatlas.federation.engine.simulation import run_simulations
from fedatlas.testing import instances
from fedatlas.testing.implementation import (
    CLIENTS,
    Implementation,
    all_cases,
    defined_cases,
    problems,
    require_finite,
    same_bits,
)
from fedatlas.testing.outcomes import Failed, NotApplicable, describe_error

STATE_ADVICE = (
    "keep what a round leaves behind in the States that hooks return, and nothing in the object or the module"
)
CHECKPOINT_ADVICE = (
    "a State holds arrays of real numbers and plain numbers, and that of the server always the same ones"
)
SOME: dict[str, Any] = {"participation": {"kind": "uniform", "count": 4}}
LIBRARY_CASES: dict[str, dict[str, Any]] = {
    "all clients": {"batch": 3},
    "some clients, or none": {"participation": {"kind": "stationary", "p": 0.3}},
    "full gradients": {"batch": None, "participation": {"kind": "uniform", "count": 3}},
    "full gradients of all clients": {"batch": None},
}
LIBRARY_ADVICE = "take norm, dot, sqrt, maximum, where and the like from fedatlas.federation.arrays, which take both"
COSTS = ("vectors_up", "vectors_down", "bits_up", "bits_down", "gradients", "samples")


def runs(implementation: Implementation) -> None:
    """A few rounds on small problems end, with finite numbers, and move the output."""
    parameters = implementation.describe_values() or "the defaults"
    advice = f"give other hyper-parameters with --set (they are: {parameters})."
    for label, problem, _ in defined_cases(implementation, all_cases()):
        history = implementation.default_run(label)
        if np.shape(history.x) != (problem.dim,):
            raise Failed(f"The output has the shape {tuple(np.shape(history.x))}, and the model ({problem.dim},).")
        require_finite(history, label, advice)
        if same_bits(history.x, problem.start(1)):
            raise Failed(f"On {label}, the output stays at the start: return the new vector in server, or {advice}")


def seeds(implementation: Implementation) -> None:
    """A run can be repeated to the bit, and another seed gives another run."""
    for label, problem, options in defined_cases(implementation, all_cases()):
        first, other = implementation.default_run(label), implementation.run(problem, seed=2, **options)
        if problem is implementation.smallest_problem and not same_bits(
            first.x, implementation.run(problem, seed=1, **options).x
        ):
            raise Failed(
                f"On {label}, the same seed gives another output the second time: draw from n.rng or steps.pick, and "
                f"not from numpy.random, and {STATE_ADVICE}."
            )
        if same_bits(first.x, other.x):
            raise Failed(f"On {label}, two seeds give the same output: start from the x0 that init is given.")


def blocks(implementation: Implementation) -> None:
    """It changes no bit how many clients are computed together."""
    advice = (
        "a hook computes across the rows of a block; return what is to be averaged over clients, and the server gets "
        "the mean; of rows (m, d), sums and norms go along the last axis."
    )
    full = [(f"{label}, full gradients", problem, {"batch": None}) for label, problem in problems().items()]
    epochs = {"local_steps": None, "local_epochs": 2, "batch": 4, **implementation.partial_participation}
    unequal = [(f"{label}, local epochs", problem, epochs) for label, problem in _unequal_problems().items()]
    cases = [*all_cases({"4 of 5 clients in a round": SOME}), *full[:1], *unequal]
    for label, problem, condition in defined_cases(implementation, cases):
        options = {"rounds": 2, **condition}
        reference = implementation.run(problem, block=CLIENTS, **options)
        for block in (1, 3):
            history = implementation.run(problem, block=block, **options)
            if not same_bits(history.x, reference.x) or _costs(history) != _costs(reference):
                raise Failed(f"On {label}, the output changes with blocks of {block} clients in place of 5: {advice}")


def checkpoint(implementation: Implementation) -> None:
    """A run that is stopped and goes on from its checkpoint ends with the same bits."""
    options = {"local_steps": 2, "rounds": 7, "eval_rounds": 3, **implementation.partial_participation}
    if "participation" in options:
        options["participation"] = {"kind": "uniform", "count": 2}
    cases = [
        ("a small problem", implementation.smallest_problem, options),
        ("a network in torch", _augmented_network(), options),
    ]
    for label, problem, _ in defined_cases(implementation, cases):
        history = implementation.run(problem, seed=3, **options)
        with tempfile.TemporaryDirectory() as folder:
            resumed = _run_with_interruption(implementation, problem, options, Path(folder, "a.state"), label)
        if _rows_without_time(resumed) != _rows_without_time(history) or not same_bits(resumed.x, history.x):
            raise Failed(f"On {label}, a run that goes on from its checkpoint ends elsewhere: {STATE_ADVICE}.")


def recurrence(implementation: Implementation) -> None:
    """Compiled rounds, which ``recurrence`` describes, agree with ``client`` and ``server``."""
    problem = instances.logistic(heterogeneous=False)
    if not implementation.cls.overrides("recurrence"):
        raise NotApplicable("The algorithm has no recurrence: its rounds are not compiled.")
    for label, steps in (("one local step", 1), ("four local steps", 4)):
        options: dict[str, Any] = {"batch": 1, "local_steps": steps}
        simulation = implementation.simulate(problem, **options)
        if simulation.problem.kernel([simulation]) is None:
            raise NotApplicable("The recurrence is None for these hyper-parameters: rounds are not compiled.")
        compiled, plain = run_simulations([simulation])[0], implementation.run(problem, **options)
        if not np.allclose(compiled.x, plain.x, rtol=1e-10, atol=1e-12) or _costs(compiled) != _costs(plain):
            raise Failed(
                f"With {label}, compiled rounds differ from plain ones by {np.abs(compiled.x - plain.x).max():.2g}: "
                "correct the matrix and vectors of recurrence, or resume; or leave recurrence out."
            )


def numpy_and_torch(implementation: Implementation) -> None:
    """NumPy arrays and torch tensors give the same run to rounding, and no hook calls NumPy with tensors."""
    problem = instances.logistic()
    twin = instances.twin(problem)
    cases = ((label, problem, options) for label, options in LIBRARY_CASES.items())
    for label, _, condition in defined_cases(implementation, cases):
        options = {"rounds": 5, "eval_rounds": 1, "seed": 4, **condition}
        history = implementation.run(problem, **options)
        require_finite(history, label, "give other hyper-parameters with --set.")
        values = {**implementation.known_constants(problem), **implementation.values}
        torch_history = _run_with_tensors(implementation, twin, values=values, **options)
        if not np.allclose(history.x, to_numpy(torch_history.x), rtol=1e-12, atol=1e-12):
            distance = np.abs(history.x - to_numpy(torch_history.x)).max()
            raise Failed(f"On {label}, the outputs of NumPy and torch differ by {distance:.2g}: {LIBRARY_ADVICE}.")
        for row, torch_row in zip(history.rows, torch_history.rows, strict=True):
            for key in row:
                if key != "seconds" and not np.isclose(row[key], torch_row[key], rtol=1e-12, atol=1e-12):
                    raise Failed(
                        f"On {label}, the {key} of NumPy and torch differ after round {row['round']}: {LIBRARY_ADVICE}."
                    )


@functools.cache
def _augmented_network() -> Any:
    augment = {"crop": 1, "flip": True}
    return instances.network({"kind": "mlp", "hidden": [4]}, dtype="float32", augment=augment)


@functools.cache
def _unequal_problems() -> dict[str, Any]:
    """Return problems whose clients have different numbers of rows, by label."""
    network = instances.network({"kind": "mlp", "hidden": [5]}, dtype="float32")
    return {
        "logistic regression": instances.unequal_shares(instances.logistic()),
        "a network in torch": instances.unequal_shares(network),
    }


def _costs(history: History) -> dict[str, float]:
    return {name: history.rows[-1][name] for name in COSTS}


def _run_with_interruption(
    implementation: Implementation, problem: Any, options: dict[str, Any], path: Path, label: str
) -> History:
    """Return the History of a run that is stopped after round 2.

    Args:
        implementation: Algorithm under test.
        problem: Problem of the run.
        options: Options of the setting.
        path: Path of the checkpoint.
        label: Name of the problem, for sentences.
    """

    def run_until(rounds: int) -> History:
        stop, pauses = threading.Event(), itertools.count(1)

        def keep(pairs: Pairs) -> Callable[[], None]:
            pause = Checkpointer(path, "check", stop=stop).watch("run", pairs)

            def pause_and_count() -> None:
                if next(pauses) == rounds:
                    stop.set()
                pause()

            return pause_and_count

        return run_simulations([implementation.simulate(problem, seed=3, **options)], kernels=False, keep=keep)[0]

    with contextlib.redirect_stdout(io.StringIO()) as output:
        try:
            run_until(2)
        except Stopped:
            pass
        except (TypeError, AttributeError) as error:
            raise Failed(f"On {label}, a run cannot be saved ({error}): {CHECKPOINT_ADVICE}.") from None
        history = run_until(options["rounds"] + 1)
    if "continues from round" not in output.getvalue():
        reason = output.getvalue().strip().partition("cannot be read")[2].partition(": the run starts")[0]
        raise Failed(f"On {label}, a run cannot go on from its checkpoint{reason}: {CHECKPOINT_ADVICE}.")
    return history


def _rows_without_time(history: History) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != "seconds"} for row in history.rows]


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
            raise Failed(f"A hook calls NumPy with a torch tensor: {LIBRARY_ADVICE}. It is in {location}.") from None
