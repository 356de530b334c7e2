"""The theorems that runs are compared with, by number."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from fedatlas.errors import lookup
from fedatlas.experiments import labels
from fedatlas.experiments.cells import Run
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.theory import comparison, fedspeed
from fedatlas.theory.comparison import RunComparison
from fedatlas.theory.fedac import FEDAC_THEOREMS, runs
from fedatlas.theory.fedred import FEDRED_BOUNDS
from fedatlas.theory.fedsps import FEDSPS_BOUNDS
from fedatlas.theory.run_bound import RunBound

if TYPE_CHECKING:
    import pandas as pd


class Theorem(NamedTuple):
    """A theorem that bounds a quantity of runs.

    Attributes:
        title: The paper's name of the theorem.
        quantity: The bounded quantity, for people.
        counted: What the bound falls with, for people.
        in_mean: Whether it bounds the expectation of the quantity, and not that of every run.
        validate_run: Raises UserError if the theorem is not about a run.
        compare_runs: Compares the runs of an algorithm in one setting, given by view, id and rows of the curves.
    """

    title: str
    quantity: str
    counted: str
    in_mean: bool
    validate_run: Callable[[Run], None]
    compare_runs: Callable[[ExperimentView, str, "pd.DataFrame"], Iterator[RunComparison]]


def theorem(name: int | str) -> Theorem:
    """Return the theorem of a number. Raises UserError, with a guess, if there is none."""
    return lookup("theorem", str(name), THEOREMS)


def _of_every_run(bound: RunBound[Any]) -> Theorem:
    counted = labels.COSTS["rounds"] if bound.counts == "round" else bound.counted
    validate, compare = partial(comparison.validate_run, bound), partial(comparison.compare_runs, bound)
    return Theorem(bound.title, bound.quantity, counted, False, validate, compare)


def _of_fedac(name: str) -> Theorem:
    validate, compare = partial(runs.validate_run, name), partial(runs.compare_runs, name)
    return Theorem(f"Theorem {name}", "suboptimality", labels.COSTS["rounds"], True, validate, compare)


def _of_fedspeed(name: str) -> Theorem:
    quantity, compare = r"mean of $|\nabla F(z^t)|^2$", partial(fedspeed.compare_runs, name)
    words = f"Theorem {name}", quantity, labels.COSTS["rounds"]
    return Theorem(*words, True, fedspeed.validate_run, compare)


THEOREMS: dict[str, Theorem] = {
    **{name: _of_every_run(bound) for name, bound in (FEDRED_BOUNDS | FEDSPS_BOUNDS).items()},
    **{name: _of_fedac(name) for name in FEDAC_THEOREMS if name in runs.COMPARED},
    **{name: _of_fedspeed(name) for name in (fedspeed.PRINTED, fedspeed.SCALED, fedspeed.NOISE)},
}  # the papers' numbers differ
