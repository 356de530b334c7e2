"""Fresh seeds confirm the best tuned value or refute it: the search's pure functions over synthetic scores."""

import dataclasses
import functools
import itertools
import math

import numpy as np
import pytest

from fedatlas.experiments import runs
from fedatlas.experiments.cells import CellSpec, Select
from fedatlas.experiments.runs import Search
from fedatlas.experiments.tuning import TUNING_RULES, Outcomes, advance_search, fresh_seeds
from fedatlas.experiments.tuning.grid import next_value
from fedatlas.federation.algorithms import ALGORITHMS
from tests.transcriptions.tuned_search import tuned_search

SELECT = Select(metric="loss", statistic="final", goal="min")


SPEC = CellSpec(
    algorithm="fedavg",
    parameters={},
    problem={"kind": "quadratic", "dim": 2},
    setting={"clients": 2, "rounds": 8},
    tune={"lr": [0.01, 0.1, 1.0]},
    seeds=[0, 1],
    select=SELECT,
)


TUNING, FRESH = SELECT.seeds, fresh_seeds(SPEC, 5)


def search_over(spec, loss):
    """The finished search over synthetic losses, and the points and seeds that ran, in their order.

    loss: (values of the point, seed) -> loss. Every step is made from scores alone, and from what JSON keeps.
    """
    rule = TUNING_RULES.build(spec.tuning_rule)

    def evaluations(trial, seed):
        value = loss(tuple(trial.point.values()), seed)
        status = "ok" if math.isfinite(value) else "diverged"
        return [{"round": at, "loss": value, "status": status} for at in (0, 8)]

    search, outcomes = runs.initial_searches(spec)[0], Outcomes(spec, evaluations, lambda point: True)
    while search.chosen is None:
        search = Search.from_dict(advance_search(rule, search, outcomes).to_dict())
    tuning = [run for run in runs.runs(spec, [search]) if run.seed not in spec.seeds]
    return search, [(tuple(run.tune.values()), run.seed) for run in tuning]


def draw_losses(seed, noise, lost=0.0):
    """Losses by value and seed with heavy tails: a valley in the logs of the values, times lognormal noise."""
    centre = np.random.default_rng(seed).normal(0, 1.5, 5)

    @functools.cache
    def loss(value, run_seed):
        draws = np.random.default_rng([seed, run_seed, *(int(1e6 * abs(math.log(x))) for x in value)])
        if draws.random() < lost:
            return math.inf
        distance = sum((math.log10(x) - at) ** 2 for x, at in zip(value, centre, strict=False))
        return math.exp(distance + noise * draws.normal())

    return loss


@pytest.mark.parametrize("noise", [0.0, 0.3, 3.0])
@pytest.mark.parametrize("lost", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_the_search_is_that_of_the_documentation(count, noise, lost):
    option = ALGORITHMS.get("fedavg").options()["lr"]
    for seed, tune in itertools.product(
        range(12), ({"lr": [0.1, 1.0]}, {"lr": [0.01, 0.1, 1.0], "server_lr": [1.0, 0.1]})
    ):
        select = dataclasses.replace(SELECT, seeds=TUNING[:count], extend=2)
        spec = dataclasses.replace(SPEC, tune=tune, select=select, seeds=[0, 1006])
        loss = draw_losses(seed, noise, lost)
        names = list(tune)
        value, words, ran, refuted = tuned_search(
            loss, list(tune.values()), select.seeds, spec.seeds,
            lambda k, values, best, tune=tune, names=names: next_value(tune[names[k]], values, best, option, 2),
        )  # fmt: skip
        search, tried = search_over(spec, loss)
        confirmation = search.confirmation
        assert tuple(search.chosen.values()) == value
        assert (confirmation.outcome if confirmation else "") == words
        assert [tuple(point.values()) for point in (confirmation.refuted if confirmation else ())] == refuted
        assert sorted(tried) == sorted(ran)  # nothing else ran, and nothing twice
        assert len({*spec.seeds} & {seed for _, seed in tried}) == 0


def test_a_lottery_on_one_seed_is_corrected():
    """A value that is wonderful on one tuning seed, and poor elsewhere, is not chosen."""

    def loss(value, seed):
        return {0.01: 0.02 + seed * 1e-6, 0.1: 0.001 if seed == TUNING[0] else 0.3 + seed * 1e-6, 1.0: 0.5}[value[0]]

    spec = dataclasses.replace(SPEC, select=dataclasses.replace(SELECT, extend=0))
    search, _ = search_over(spec, loss)
    assert search.chosen == {"lr": 0.01} and search.confirmation.outcome == "confirmed"


@pytest.mark.parametrize("rule", [None, {"kind": "successive_halving"}])
def test_a_lottery_on_most_tuning_seeds_is_refuted_by_fresh_ones(rule):
    """The search goes on around the better neighbour, which the first tuning seeds did not show, and says so."""
    tune = {"lr": [0.001, 0.01, 0.1, 1.0]}

    def loss(value, seed):
        lucky = value == (0.1,) and seed in TUNING[:4]
        return 1e-4 + seed * 1e-9 if lucky else {0.001: 0.02, 0.01: 0.05, 0.1: 0.9, 1.0: 1.0}[value[0]] + seed * 1e-6

    spec = dataclasses.replace(SPEC, tune=tune, select=dataclasses.replace(SELECT, extend=0), tuning=rule)
    search, tried = search_over(spec, loss)
    assert search.chosen == {"lr": 0.001} and search.confirmation.refuted == [{"lr": 0.1}]
    assert search.confirmation.outcome == "confirmed after one refuted value"
    assert ((1.0,), FRESH[0]) in tried and ((0.001,), FRESH[0]) in tried  # the latter as a neighbour of 0.01


def test_a_value_that_fails_on_some_seeds_is_refuted_by_one_that_does_not():
    """The median does not see that a value fails on two seeds of five; the mean of the fresh seeds does."""

    def loss(value, seed):
        return {0.01: 0.004, 0.1: 0.3 if seed % 5 < 2 else 0.001, 1.0: 0.5}[value[0]] + seed * 1e-9

    spec = dataclasses.replace(SPEC, select=dataclasses.replace(SELECT, extend=0))
    search, _ = search_over(spec, loss)
    assert search.chosen == {"lr": 0.01} and search.confirmation.refuted == [{"lr": 0.1}]


def test_fresh_seeds_are_seeds_of_nothing_else():
    spec = dataclasses.replace(SPEC, seeds=[0, 1005, 1007])
    assert fresh_seeds(spec, 4) == [1006, 1008, 1009, 1010]
