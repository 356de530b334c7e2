"""Checks of sensitivity to hyper-parameters and of recorded values."""

import math

import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED, UNDECIDED
from tests.synthetic import curves, rows

from .fixtures import judged, view

SCORES = {("fedsps", k, c): 1 + (c - k / 10) ** 2 for k in (5, 10, 20) for c in (0.5, 1.0, 2.0)}
QUADRATIC = {("fedsps", k, c): 1 + (c - k * k) ** 2 for k in (1, 2, 4) for c in (1.0, 4.0, 16.0)}


MADE = view(["fedsps"], ["local_steps"], metric="loss", tune=["c"])


def verdict(scores, **options):
    result = judged(MADE, rows(scores), **options)
    return result["verdict"], result["ours"]


@pytest.mark.parametrize(
    "options, expected",
    [
        ({"at_most": 4.3}, HELD),
        ({"at_most": 2}, NOT_HELD),
        ({"at_least": 2.5}, NOT_HELD),
        ({"at_most": 2, "where": {"local_steps": 10}}, HELD),
        ({"at_least": 2, "where": {"local_steps": 20}}, HELD),
        ({"at_most": 1.3, "among": {"c": [0.5, 1.0]}, "where": {"local_steps": 10}}, HELD),
        ({"at_most": 2, "among": {"c": [1.0]}}, NOT_TESTED),
    ],
)
def test_spread(options, expected):
    assert verdict(SCORES, kind="spread", algorithms=["fedsps"], **options)[0] == expected


def test_spread_has_an_interval_over_seeds():
    scores = {("fedsps", 5, 0.5): 1, ("fedsps", 5, 1.0): 2}
    table = rows(scores)
    trials = pd.concat([table.assign(seed=s, score=table["score"] ** power) for s, power in enumerate((1, 1.1, 0.9))])
    options = {"kind": "spread", "algorithms": ["fedsps"]}
    verdicts = [judged(MADE, table, None, trials, **options, at_most=most)["verdict"] for most in (2.4, 2.1, 1.5)]
    assert verdicts == [HELD, UNDECIDED, NOT_HELD]


def test_a_slope_has_an_interval_over_seeds():
    frames = [rows({key: 1 + (key[2] - key[1] ** power) ** 2 for key in QUADRATIC}) for power in (2, 1, 2)]
    trials = pd.concat([frame.assign(seed=seed) for seed, frame in enumerate(frames)])
    options = {"kind": "choice_slope", "algorithm": "fedsps", "parameter": "c", "axis": "local_steps", "at_most": 1.5}
    assert judged(MADE, frames[0], None, trials, **options)["verdict"] == UNDECIDED


def test_spread_of_what_diverged_is_infinite():
    scores = {("fedsps", 5, 0.5): 1, ("fedsps", 5, 1.0): math.inf}
    assert verdict(scores, kind="spread", algorithms=["fedsps"], at_most=1e9)[0] == NOT_HELD
    assert verdict(scores, kind="spread", algorithms=["fedsps"], at_least=2)[0] == HELD


def test_choice_slope_tells_a_square_law_from_none():
    options = {"kind": "choice_slope", "algorithm": "fedsps", "parameter": "c", "axis": "local_steps", "at_most": 0.5}
    assert verdict(QUADRATIC, **options) == (NOT_HELD, "FedSPS: slope 2 of log c against log K")
    flat = {key: 1 + (key[2] - 1) ** 2 for key in SCORES}
    assert verdict(flat, **options)[0] == HELD
    assert verdict(flat, **options, where={"local_steps": 5})[0] == NOT_TESTED


def test_unknown_hyper_parameters_are_errors():
    with pytest.raises(UserError, match="'gamma' is not tuned for fedsps"):
        verdict(SCORES, kind="spread", algorithms=["fedsps"], among={"gamma": [1]}, at_most=1)


PROPORTION = {"kind": "reaches", "algorithms": ["fedsps"], "metric": "apart", "of": "loss", "statistic": "final"}
LINES = curves([("fedsps", 5, seed, [(0, 9.0), (4, 2.0)]) for seed in (0, 1)], ("local_steps",), "loss").assign(
    apart=0.2, status="ok"
)


@pytest.mark.parametrize("at_most, expected", [(0.101, HELD), (0.05, NOT_HELD)])
def test_proportion(at_most, expected):
    result = judged(MADE, rows({("fedsps", 5, 0.5): 1}), LINES, **PROPORTION, at_most=at_most)
    assert (result["verdict"], result["ours"]) == (expected, "FedSPS: last apart / training loss 0.1 at K = 5")


def test_proportion_of_what_was_not_recorded():
    lines = LINES.assign(apart=math.nan)
    assert judged(MADE, rows({("fedsps", 5, 0.5): 1}), lines, **PROPORTION, at_most=1)["verdict"] == NOT_TESTED
