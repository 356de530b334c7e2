"""Which tuned values won."""

import math

import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED
from tests.claims.fixtures import judged, view
from tests.synthetic import rows, table


def judge_values(values, chosen):
    """The claim that ``values`` win where those of ``chosen`` do, by number of clients."""
    frame = table([("fedavg", clients, 0.1) for clients in chosen])
    frame["lr"], frame["server_lr"] = chosen.values(), 1.0
    frame["tuning_seeds"] = 3
    return judged(view(tune=("lr", "server_lr")), frame, kind="chooses", algorithm="fedavg", values=values)


@pytest.mark.parametrize(
    ("chosen", "expected"), [({4: 0.1, 16: 0.1}, HELD), ({4: 0.1, 16: 0.2}, NOT_HELD), ({4: 1.0}, NOT_HELD)]
)
def test_all_settings_count(chosen, expected):
    row = judge_values({"lr": 0.1, "server_lr": 1}, chosen)
    assert (row["verdict"], row["seeds"]) == (expected, 3)
    assert f"{next(iter(chosen.values())):g}" in row["ours"]


def test_what_is_not_tuned_is_refused():
    with pytest.raises(UserError, match="'eps' is not tuned for fedavg"):
        judge_values({"eps": 0.1}, {4: 0.1})


def of_grid(scores, goal="min", **options):
    """The claim about c in the settings of 5 and 10 local steps. scores: by (local steps, c), one for each of three
    seeds."""
    frames = [rows({("fedsps", *key): of_seeds[seed] for key, of_seeds in scores.items()}) for seed in range(3)]
    trials = pd.concat([frame.assign(seed=seed) for seed, frame in enumerate(frames)])
    experiment = view(["fedsps"], ["local_steps"], metric="loss", goal=goal, tune=["c"])
    chosen = frames[0][frames[0]["chosen"]]
    return judged(experiment, chosen, None, trials, kind="chooses", algorithm="fedsps", **options)


GRID = {
    (5, 0.5): [3, 3, 3],
    (5, 1.0): [2, 4, 2],
    (5, 2.0): [1, math.inf, 1],
    (5, 4.0): [0.1, 0.1, 0.1],
    (10, 0.5): [2, 2, 2],
    (10, 1.0): [1, 2.5, 1],
    (10, 4.0): [0.1, 0.1, 0.1],
}


@pytest.mark.parametrize(
    ("values", "among", "expected"),
    [
        ({"c": 4}, {}, HELD),
        ({"c": 1}, {}, NOT_HELD),
        ({"c": 1}, {"c": [0.5, 1, 2]}, HELD),
        ({"c": 4}, {"c": [0.5, 1, 2]}, NOT_HELD),
        ({"c": 2}, {"c": [0.5, 1, 2]}, NOT_HELD),
        ({"c": 4}, {"c": [0.5, 1, 2, 4]}, HELD),
        ({"c": 2}, {"c": 2}, HELD),
        ({"c": 8}, {"c": [8]}, NOT_TESTED),
    ],
)
def test_added_values_do_not_count_where_the_best_is_among_others(values, among, expected):
    assert of_grid(GRID, values=values, among=among)["verdict"] == expected


def test_the_best_of_the_values_is_told():
    row = of_grid(GRID, values={"c": 1}, among={"c": [0.5, 1, 2]})
    assert (row["ours"], row["seeds"]) == ("c = 1 at K = 5; c = 1 at K = 10", 3)


def test_large_scores_can_be_the_best():
    scores = {(5, 0.5): [3, 3, 3], (5, 1.0): [2, 4, 2], (5, 4.0): [9, 9, 9]}
    assert of_grid(scores, "max", values={"c": 0.5}, among={"c": [0.5, 1]})["verdict"] == HELD


def test_values_are_those_of_what_is_tuned():
    with pytest.raises(UserError, match="'gamma' is not tuned for fedsps"):
        of_grid(GRID, values={"c": 1}, among={"gamma": [1]})
