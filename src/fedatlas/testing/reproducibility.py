"""Checks that the bits of a run depend on nothing but its specification."""

import contextlib
import functools
import io
import itertools
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.federation.engine.checkpoint import Checkpointer, Pairs, Stopped
from fedatlas.federation.engine.history import History
from fedatlas.federation.engine.simulation import run_simulations
from fedatlas.testing import instances
from fedatlas.testing.implementation import (
    CLIENTS,
    SAMPLED,
    Implementation,
    all_cases,
    defined_cases,
    problems,
    require_finite,
    same_bits,
)
from fedatlas.testing.outcomes import Failed, NotApplicable

STATELESS = "keep what a round leaves behind in the States that hooks return, and nothing in the object or the module"
SAVED = "a State holds arrays of real numbers and plain numbers, and that of the server always the same ones"
FOUR = {"participation": {"kind": "uniform", "count": 4}}


def runs(implementation: Implementation) -> None:
    """A few rounds on small problems end, with finite numbers, and move the output."""
    advice = f"give other hyper-parameters with --set (they are: {implementation.describe_values() or 'the defaults'})."
    for words, problem, options in defined_cases(implementation, all_cases()):
        simulation = implementation.simulate(problem, **options)
        for name in implementation.cls.broadcast:
            if name not in simulation.s and not implementation.cls.overrides("before"):
                known = ", ".join(name for name, _ in simulation.s.items())
                raise Failed(
                    f"broadcast names {name!r}, but init gives the server only {known}: correct broadcast or init."
                )
        history = implementation.default_run(words)
        if np.shape(history.x) != (problem.dim,):
            raise Failed(f"The output has the shape {tuple(np.shape(history.x))}, and the model ({problem.dim},).")
        require_finite(history, words, advice)
        if same_bits(history.x, problem.start(1)):
            raise Failed(f"On {words}, the output stays at the start: return the new vector in server, or {advice}")


def seeds(implementation: Implementation) -> None:
    """A run can be repeated to the bit, and another seed gives another run."""
    for words, problem, options in defined_cases(implementation, all_cases()):
        first, again, other = (
            implementation.default_run(words),
            *(implementation.run(problem, seed=seed, **options) for seed in (1, 2)),
        )
        if not same_bits(first.x, again.x):
            random = "draw from n.rng or steps.pick, and not from numpy.random"
            raise Failed(f"On {words}, the same seed gives another output the second time: {random}, and {STATELESS}.")
        if same_bits(first.x, other.x):
            raise Failed(f"On {words}, two seeds give the same output: start from the x0 that init is given.")


def blocks(implementation: Implementation) -> None:
    """It changes no bit how many clients are computed together."""
    advice = (
        "a hook computes across the rows of a block; return what is to be averaged over clients, and the server gets "
        "the mean; of rows (m, d), sums and norms go along the last axis."
    )
    _compare(
        implementation,
        [(1, 1), (3, 1)],
        lambda block, _: f"clients are computed in blocks of {block} in place of 5: {advice}",
    )


def threads(implementation: Implementation) -> None:
    """It changes no bit on how many threads the clients are computed."""
    advice = f"{STATELESS}; a hook may run for several blocks at once."
    _compare(implementation, [(1, 3)], lambda _, threads: f"there are {threads} threads in place of one: {advice}")


def _compare(implementation: Implementation, ways: list[tuple[int, int]], advice: Callable[[int, int], str]) -> None:
    """Runs in blocks and on threads against runs in one way: the largest block, or the same blocks on one thread."""
    usual = all_cases({"4 of 5 clients in a round": FOUR, "full gradients": {"batch": None}})
    epochs = {"local_steps": None, "local_epochs": 2, "batch": 4, **implementation.partial_participation}
    uneven = ((f"{words}, local epochs", one, epochs) for words, one in _uneven().items())
    for words, problem, options in defined_cases(implementation, itertools.chain(usual, uneven)):
        options = {"rounds": 2, **options}
        single = implementation.cached_run(f"{words}, one by one", problem, block=1, **options)
        whole = single if len(ways) == 1 else implementation.run(problem, block=CLIENTS, **options)
        for block, count in ways:
            one_by_one = (block, count) == (1, 1)
            other = single if one_by_one else implementation.run(problem, block=block, threads=count, **options)
            if not same_bits(other.x, whole.x) or _costs(other) != _costs(whole):
                raise Failed(f"On {words}, the output changes if {advice(block, count)}")


@functools.cache
def _uneven() -> dict[str, Any]:
    """Problems whose clients have different numbers of rows."""
    small = instances.network({"kind": "mlp", "hidden": [5]}, dtype="float32")
    return {
        "logistic regression": instances.unequal_shares(instances.logistic()),
        "a network in torch": instances.unequal_shares(small),
    }


def _costs(history: History) -> dict[str, float]:
    return {name: history.rows[-1][name] for name in ("vectors_up", "vectors_down", "gradients", "samples")}


def evaluation(implementation: Implementation) -> None:
    """It changes no bit how often the output is evaluated."""
    for words, problem, options in defined_cases(implementation, all_cases()):
        often, seldom = implementation.default_run(words), implementation.run(problem, eval_rounds=4, **options)
        if not same_bits(often.x, seldom.x) or often.rows[-1]["loss"] != seldom.rows[-1]["loss"]:
            raise Failed(f"On {words}, the output depends on how often it is evaluated: `output` must change nothing.")


def checkpoint(implementation: Implementation) -> None:
    """A run that is stopped and goes on from its checkpoint ends with the same bits."""
    augmented: dict[str, Any] = {"dtype": "float32", "augment": {"crop": 1, "flip": True}}
    network = instances.network({"kind": "mlp", "hidden": [4]}, **augmented)
    places = {"a small problem": implementation.smallest_problem, "a network in torch": network}
    length = {"local_steps": 2, "rounds": 7, "eval_rounds": 3, **implementation.partial_participation}
    if "participation" in length:
        length["participation"] = {"kind": "uniform", "count": 2}
    for words, problem, options in defined_cases(
        implementation, [(words, one, length) for words, one in places.items()]
    ):
        whole = implementation.run(problem, seed=3, **options)
        with tempfile.TemporaryDirectory() as folder:
            again = _stopped_and_resumed(implementation, problem, options, Path(folder, "a.state"), words)
        if _rows(again) != _rows(whole) or not same_bits(again.x, whole.x):
            raise Failed(f"On {words}, a run that goes on from its checkpoint ends elsewhere: {STATELESS}.")


def _stopped_and_resumed(
    implementation: Implementation, problem: Any, options: dict[str, Any], path: Path, words: str
) -> History:
    """The History of a run that is stopped after round 2, and again 3 rounds later."""

    def go(rounds: int | None) -> History:
        event, pauses = threading.Event(), itertools.count(1)

        def keep(pairs: Pairs) -> Callable[[], None]:
            pause = Checkpointer(path, "check", stop=event).watch("run", pairs)

            def counted() -> None:
                if next(pauses) == rounds:
                    event.set()
                pause()

            return counted

        return run_simulations([implementation.simulate(problem, seed=3, **options)], kernels=False, keep=keep)[0]

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        for rounds in (2, 3):
            try:
                go(rounds)
            except Stopped:
                continue
            except (TypeError, AttributeError) as error:
                raise Failed(f"On {words}, a run cannot be saved ({error}): {SAVED}.") from None
        found = go(None)
    if "continues from round" not in said.getvalue():
        reason = said.getvalue().strip().partition("cannot be read")[2].partition(": the run starts")[0]
        raise Failed(f"On {words}, a run cannot go on from its checkpoint{reason}: {SAVED}.")
    return found


def _rows(history: History) -> list[dict[str, Any]]:
    """The rows without what takes time."""
    return [{key: value for key, value in row.items() if key != "seconds"} for row in history.rows]


def grid(implementation: Implementation) -> None:
    """Several step sizes that are computed together have the bits that each has alone."""
    shared = instances.logistic(heterogeneous=False)
    apart = [
        ("quadratics", problems()["quadratics"], {}),
        ("logistic regression, some clients", implementation.smallest_problem, SAMPLED),
    ]
    for words, problem, options in defined_cases(
        implementation, [("logistic regression", shared, {"batch": 1}), *apart]
    ):
        name, values = _several(implementation, problem)
        each = [implementation.simulate(problem, values=one, **options) for one in values]
        for one, history in zip(values, run_simulations(each), strict=True):
            alone = run_simulations([implementation.simulate(problem, values=one, **options)])[0]
            if not same_bits(alone.x, history.x):
                beside = f"{name} = {one[name]:g} gives another output with other values beside it"
                raise Failed(f"On {words}, {beside}: {STATELESS}.")


def _several(implementation: Implementation, problem: Any) -> tuple[str, list[dict[str, Any]]]:
    """A hyper-parameter, lr or else the first number, and several values of all, which differ in it."""
    numbers = {name: one for name, one in implementation.cls.options().items() if float in one.members}
    filled = implementation.create().with_constants(problem)
    for name in sorted(numbers, key=lambda name: name != "lr"):
        value = getattr(filled, name)
        found = [value * factor for factor in (1.0, 1.1, 1.3, 0.8) if value is not None]
        values = [implementation.values | {name: one} for one in found if numbers[name].fits(one)]
        if len({one[name] for one in values}) > 1:
            return name, values
    raise NotApplicable("The algorithm has no hyper-parameter that is a number.")


def recurrence(implementation: Implementation) -> None:
    """Compiled rounds, which ``recurrence`` describes, agree with ``client`` and ``server``."""
    shared = instances.logistic(heterogeneous=False)
    if not implementation.cls.overrides("recurrence"):
        raise NotApplicable("The algorithm has no recurrence: its rounds are not compiled.")
    for words, steps in (("one local step", 1), ("four local steps", 4)):
        options: dict[str, Any] = {"batch": 1, "local_steps": steps}
        fast = implementation.simulate(shared, **options)
        if fast.problem.kernel([fast]) is None:
            raise NotApplicable("The recurrence is None for these hyper-parameters: rounds are not compiled.")
        compiled, plain = run_simulations([fast])[0], implementation.run(shared, **options)
        if not np.allclose(compiled.x, plain.x, rtol=1e-10, atol=1e-12) or _costs(compiled) != _costs(plain):
            raise Failed(
                f"With {words}, compiled rounds differ from plain ones by {np.abs(compiled.x - plain.x).max():.2g}: "
                "correct the matrix and vectors of recurrence, or resume; or leave recurrence out."
            )
