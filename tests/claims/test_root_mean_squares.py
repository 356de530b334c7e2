"""Root mean squares, compared seed by seed."""

import numpy as np
import pytest

from fedatlas.experiments.view import AlgorithmView
from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED, UNDECIDED
from tests.synthetic import curves, table

from .fixtures import judged, view

AXES = ("local_steps",)


RMS = {"kind": "better", "algorithm": "fedawe", "than": ["fedau", "f3ast"], "after": 10}


LATE = {"fedawe": 1.0, "fedau": 2.0, "f3ast": 3.0}


def verdict(late=LATE, spread=0.1, seeds=5, lost=(), **options):
    """All are at 100 at first; late values differ by seed, alike for all algorithms, and are +-10 % from it."""
    lines = [
        (id, k, seed, [(0, 100.0), (10, 0.9 * value * (1 + spread * seed)), (20, 1.1 * value * (1 + spread * seed))])
        for id, value in late.items()
        for k in (1, 2)
        for seed in range(seeds)
    ]
    frame = curves(lines, AXES)
    frame["status"] = ["diverged" if id in lost else "ok" for id in frame["algorithm"]]
    rows = [(id, (k,), value) for id, value in late.items() for k in (1, 2)]
    experiment = view(list(late), AXES, goal=options.pop("goal", "min"))
    result = judged(experiment, table(rows, AXES), frame, **RMS | options)
    return result["verdict"], result["ours"], result["note"]


def judge_lines(lines, **changes):
    """The row of the claim that b is closer than a."""
    rows = table([("a", (1,), 1), ("b", (1,), 1)], AXES)
    experiment = view(["a", "b"], AXES, **changes)
    return judged(
        experiment,
        rows,
        curves(lines, AXES).assign(status="ok"),
        kind="better",
        algorithm="b",
        than=["a"],
        after=0,
    )


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, HELD),
        ({"at_least": 1.9}, HELD),
        ({"at_least": 2.1}, NOT_HELD),
        ({"at_least": 2.9, "than": ["f3ast"]}, HELD),
        ({"algorithm": "fedau", "than": ["fedawe"]}, NOT_HELD),
        ({"lost": ["fedau", "f3ast"]}, HELD),
        ({"lost": ["fedawe"]}, NOT_HELD),
        ({"lost": ["fedawe"], "goal": "max", "absolute": True}, NOT_HELD),
        ({"lost": ["fedau", "f3ast"], "goal": "max", "absolute": True}, HELD),
        ({"seeds": 1}, UNDECIDED),
        ({"after": 21}, NOT_TESTED),
    ],
)
def test_root_mean_squares(options, expected):
    assert verdict(**options)[0] == expected


def test_pairs_share_their_seeds():
    assert verdict(spread=10.0)[0] == HELD  # whose means differ by less than the seeds do


def test_a_lead_that_seeds_do_not_agree_on_is_not_certain():
    lines = [(id, 1, seed, [(10, 1 + (seed % 2) * (id == "a") * 3 + (id == "b"))]) for id in "ab" for seed in range(6)]
    assert judge_lines(lines)["verdict"] == UNDECIDED


def test_one_deterministic_run_is_compared_with_all_seeds():
    lines = [("a", 1, 0, [(10, 2.0)]), *(("b", 1, seed, [(10, 0.9 + 0.1 * seed)]) for seed in range(3))]
    algorithms = {"a": AlgorithmView("a", "a", deterministic=True), "b": AlgorithmView("b", "b")}
    assert judge_lines(lines, algorithms=algorithms)["verdict"] == HELD


def judge_grid(rounds, after, over_rounds=True):
    """The row of the claim on runs of 64 rounds, of which some have rows."""
    values = {id: [scale * (1 + 50 / (1 + t)) for t in range(65)] for id, scale in (("a", 2.0), ("b", 0.7))}
    lines = [(id, 1, seed, [(t, (1 + 0.01 * seed) * values[id][t]) for t in rounds]) for id in "ab" for seed in (0, 1)]
    frame = curves(lines, AXES).assign(status="ok")
    if over_rounds:
        means = {id: np.cumsum(np.square(values[id])) / np.arange(1, 66) for id in "ab"}
        pairs = zip(frame["algorithm"], frame["round"], frame["seed"], strict=True)
        frame["suboptimality_rounds_mean_square"] = [means[id][t] * (1 + 0.01 * seed) ** 2 for id, t, seed in pairs]
    options = {"kind": "better", "algorithm": "b", "than": ["a"], "after": after}
    rows = table([("a", (1,), 1), ("b", (1,), 1)], AXES)
    return judged(view(["a", "b"], AXES), rows, frame, **options)


GRID = [0, 1, 2, 4, 8, 16, 25, 32, 40, 64]


@pytest.mark.parametrize(("after", "first"), [(0, 0), (1, 1), (8, 8), (9, 16), (33, 40), (64, 64)])
def test_a_mean_of_all_rounds_is_read_on_a_grid_from_its_next_round_on(after, first):
    ours, expected = judge_grid(GRID, after), judge_grid(range(65), first, over_rounds=False)
    assert ours["value"] == pytest.approx(expected["value"], rel=1e-9)
    assert ours["ours"].partition("(")[2].partition(" at ")[0].rpartition("(")[2] in expected["ours"]  # the means
