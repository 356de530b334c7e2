"""Pattern search: it ends at the optimum, wherever that lies, on equal budgets, from scores alone."""

import dataclasses
import math

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.experiments import expansion, runs
from fedatlas.experiments.cells import CellSpec, Select
from fedatlas.experiments.runs import Search
from fedatlas.experiments.tuning import TUNING_RULES, Outcomes, advance_search, size
from fedatlas.experiments.tuning.trials import draw
from fedatlas.federation.algorithms import ALGORITHMS
from tests.experiments.stopping import assert_same_bits_in_pieces
from tests.experiments.test_config import GOOD, load

SELECT = Select(metric="loss", statistic="final", goal="min", seeds=[1000, 1001, 1002])


RULE = {"kind": "pattern_search"}


OPTIONS = {
    "fedavg": {"lr": [0.01, 10.0]},
    "fedprox": {"lr": [0.01, 10.0], "nu": [0.001, 1.0]},
    "fedspeed": {"lr": [0.01, 10.0], "lam": ["0.1/L_max", "100/L_max"], "rho": [0.001, 1.0]},
}


def spec_of(algorithm, trials=8, **change):
    space = OPTIONS[algorithm]
    fields = {
        "algorithm": algorithm,
        "parameters": {},
        "problem": {"kind": "quadratic", "dim": 3},
        "setting": {"clients": 4, "rounds": 8, "batch": None},
        "tune": draw(space, ALGORITHMS.get(algorithm).options(), trials * len(space)),
        "space": space,
        "select": SELECT,
        "tuning": RULE,
    }
    return CellSpec(**fields | change)


def logarithms(point):
    return np.array([math.log10(size(value)) for value in point.values()])


def search_over(spec, loss, rows=None, confirmed=False, possible=lambda point: True):
    """The finished search over losses of (logarithms to base 10, seed); each step is made from what JSON keeps."""
    rule = TUNING_RULES.build(spec.tuning_rule)

    def evaluations(trial, seed):
        value = loss(logarithms(trial.point), seed)
        status = "ok" if math.isfinite(value) else "diverged"
        return [{"round": at, "loss": value, "status": status, **(rows(value) if rows else {})} for at in (0, 8)]

    search = dataclasses.replace(runs.initial_searches(spec)[0], seeds=spec.tuning_seeds)
    outcomes, steps = Outcomes(spec, evaluations, possible), []
    while search.chosen is None:
        longer = advance_search(rule, search, outcomes) if confirmed else rule.advance(search, outcomes)
        steps.append(runs.tuned_points(longer)[len(runs.tuned_points(search)) :])
        search = Search.from_dict(longer.to_dict())
    return search, [step for step in steps if step]


def valley(centre, coupling=0.0, noise=0.0):
    """A loss with its least value at a centre, in logarithms; with a coupling, its axes lie askew."""
    centre = np.array(centre)
    skew = np.eye(len(centre)) + coupling * (np.ones((len(centre),) * 2) - np.eye(len(centre)))

    def loss(x, seed):
        draw = np.random.default_rng([seed, *np.abs((1e6 * x).astype(int))]).normal() if noise else 0.0
        return math.exp(float((x - centre) @ skew @ (x - centre)) + noise * draw)

    return loss


NEAR = math.log10(2) / 4 * 1.01  # a quarter of a doubling: the largest distance to a point between two half steps


@pytest.mark.parametrize("algorithm", OPTIONS)
@pytest.mark.parametrize("shift", [0.0, 1.0, 2.0])
def test_it_ends_at_an_optimum_that_lies_decades_outside_the_ranges(algorithm, shift):
    spec = spec_of(algorithm)
    ends = [size(high) for _, high in spec.space.values()]
    centre = [math.log10(end) + shift for end in ends]
    search, _ = search_over(spec, valley(centre))
    assert np.abs(logarithms(search.chosen) - centre).max() <= NEAR
    assert len(runs.tuned_points(search)) <= 25 * len(spec.space)


def test_fine_steps_end_where_they_gain_nothing():
    """The search goes on where a step size that is a tenth too small leaves ten times the loss, and not on a floor."""
    steep, flat = (
        search_over(spec_of("fedavg"), lambda x, seed, rate=rate: math.exp(rate * abs(float(x[0]) - 0.7)))[0]
        for rate in (100.0, 0.1)
    )
    assert abs(logarithms(steep.chosen)[0] - 0.7) <= math.log10(2) / 32 * 1.01
    assert len(runs.tuned_points(flat)) < len(runs.tuned_points(steep)) <= 25


@pytest.mark.parametrize("coupling", [-0.45, 0.6])
def test_it_ends_at_an_optimum_along_a_ridge(coupling):
    for place in ([1.3, -3.2, 0.4], [0.1, 2.2, -1.0]):
        search, _ = search_over(spec_of("fedspeed"), valley(place, coupling))
        assert valley(place, coupling)(logarithms(search.chosen), 0) < 1.1


def test_it_finds_the_deeper_of_two_valleys():
    deep, shallow = valley([1.0, -0.2]), valley([-1.5, -2.8])

    def loss(x, seed):
        return min(0.2 * deep(x, seed), shallow(x, seed))

    search, _ = search_over(spec_of("fedprox"), loss)
    assert loss(logarithms(search.chosen), 0) < 0.21


def test_where_nothing_is_better_than_noise_it_stops():
    """Steps that are better by chance do not lead on: the noise is that of the differences, seed by seed."""
    counts = []
    for shift in range(10):
        spec = spec_of("fedspeed", select=dataclasses.replace(SELECT, seeds=[shift * 10 + k for k in range(3)]))
        search, _ = search_over(spec, valley([0.0, 0.0, -1.0], noise=0.1))
        assert valley([0.0, 0.0, -1.0])(logarithms(search.chosen), 0) < 1.2
        counts.append(len(runs.tuned_points(search)))
    assert np.mean(counts) < 70


def test_seeds_that_differ_in_size_count_alike():
    """An instance whose losses are a million times those of the others does not decide alone."""

    def loss(x, seed):
        return valley([0.5])(x, seed) * (1e6 if seed == 1000 else 1.0)

    search, _ = search_over(spec_of("fedavg"), loss)
    assert abs(logarithms(search.chosen)[0] - 0.5) <= NEAR


def test_what_is_compared_is_the_distance_to_the_optimum_where_it_is_known():
    """One percent of a loss of 1 may be all that there is to gain."""

    def rows(value):
        return {"suboptimality": value - 1}

    def loss(x, seed):
        return 1 + 1e-4 * valley([1.8])(x, seed)

    known, unknown = (search_over(spec_of("fedavg"), loss, given)[0] for given in (rows, None))
    assert abs(logarithms(known.chosen)[0] - 1.8) <= NEAR < abs(logarithms(unknown.chosen)[0] - 1.8)


def test_scores_of_which_large_ones_are_good_are_searched_too():
    select = dataclasses.replace(SELECT, metric="accuracy", goal="max")
    spec = spec_of("fedprox", select=select)

    def rows(value):
        return {"accuracy": 1 / value}

    search, _ = search_over(spec, valley([1.8, 0.9]), rows)
    assert np.abs(logarithms(search.chosen) - [1.8, 0.9]).max() <= NEAR


def test_a_cliff_of_divergence_is_not_crossed():
    """The best step size is often just below the largest that converges."""

    def loss(x, seed):
        return math.inf if x[0] > 0.7 else math.exp(-x[0])

    search, _ = search_over(spec_of("fedavg"), loss)
    assert 0.7 - 2 * NEAR <= logarithms(search.chosen)[0] <= 0.7


@pytest.mark.parametrize(
    "algorithm, name, ends, best",
    [("scaffnew", "p", [0.1, 1.0], 2.0), ("mime", "beta", [0.5, 0.95], 0.995), ("fedau", "cutoff", [2, 20], 87)],
)
def test_values_stay_within_their_options(algorithm, name, ends, best):
    """A share ends at 1, a momentum comes as near to 1 as it likes, and a whole number is one."""
    option = ALGORITHMS.get(algorithm).options()[name]
    space = {name: ends}
    spec = dataclasses.replace(spec_of("fedavg"), algorithm=algorithm, space=space, tune=draw(space, {name: option}, 8))

    def loss(x, seed):
        value = 10 ** x[0]
        return 1 + abs(math.log((1 - value) / (1 - best) if name == "beta" else value / best))

    search, steps = search_over(spec, loss)
    assert all(option.fits(point[name]) for step in steps for point in step)
    chosen = search.chosen[name]
    assert chosen == 1.0 if name == "p" else loss(logarithms(search.chosen), 0) < 1 + math.log(2) / 4 * 1.1
    assert TUNING_RULES.build(RULE).edge(spec, search, name) == ""


def test_points_that_cannot_be_run_are_left_out():
    centre = [1.0, -1.0]
    search, steps = search_over(spec_of("fedprox"), valley(centre), possible=lambda point: logarithms(point)[1] < -1.2)
    assert all(logarithms(point)[1] < -1.2 for step in steps for point in step)
    assert abs(logarithms(search.chosen)[0] - 1.0) <= NEAR


def test_the_budget_is_kept():
    spec = spec_of("fedspeed", tuning={**RULE, "most": 12})
    search, _ = search_over(spec, valley([3.0, 3.0, 3.0]))
    assert len(runs.tuned_points(search)) == 36
    assert TUNING_RULES.build(spec.tuning).edge(spec, search, "lr") in ("", "highest")


TRAINED = spec_of(
    "fedprox",
    trials=2,
    problem={"kind": "quadratic", "dim": 3, "mu": 0.1, "L": 1.0, "heterogeneity": 1.0, "noise": 0.1},
    setting={"clients": 4, "rounds": 8, "local_steps": 3, "batch": 1},
    seeds=[0, 1],
    tuning={**RULE, "most": 8},
)


def test_a_search_that_was_stopped_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    assert_same_bits_in_pieces(TRAINED, tmp_path, monkeypatch, 7)


def test_trials_are_drawn_for_each_hyper_parameter(tmp_path):
    content = {**GOOD, "trials": 3, "tuning": "pattern_search", "algorithms": {"fedavg": {}, "fedprox": {}, "agd": {}}}
    content.pop("tune", None)
    counts = {cell.id: [*map(len, cell.spec.tune.values())] for cell in expansion.cells(load(tmp_path, content))}
    assert counts == {"fedavg": [3], "fedprox": [6, 6], "agd": []}


def test_it_needs_trials(tmp_path):
    with pytest.raises(
        UserError, match="pattern_search begins with trials of search spaces; give their number in trials"
    ):
        expansion.cells(
            load(tmp_path, {**GOOD, "algorithms": {"fedavg": {"tune": {"lr": [0.1, 0.2]}}}, "tuning": "pattern_search"})
        )
