"""The replay of published runs."""

import pytest

from fedatlas.errors import UserError
from fedatlas.results.claims import CHECKS
from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED
from tests.synthetic import curves, table

from .fixtures import judged, view

AXES = ("clients",)
MADE = view(("fedavg", "fedac-1"), AXES, metric="loss")
ROWS = [("fedavg", (4,), 0.1), ("fedac-1", (4,), 0.1)]
STABLE = ("fedavg", 4, 0, [(0, 2.0), (8, 0.5), (16, 0.75)])
UNSTABLE = ("fedac-1", 4, 0, [(0, 2.0), (8, 5.0), (16, 0.25)])


def replays(runs, lines=(STABLE, UNSTABLE)):
    options = {"kind": "reaches", "quantity": "replay", "algorithms": list(runs), "runs": runs, "at_most": 1e-12}
    result = judged(MADE, table(ROWS, AXES), curves(list(lines), AXES, "loss"), **options)
    return result["verdict"], result["ours"]


@pytest.mark.parametrize(
    ("final", "best", "expected"),
    [(0.75, 0.5, HELD), (0.75 * (1 + 5e-13), 0.5, HELD), (0.75, 0.5 * (1 + 2e-12), NOT_HELD), (0.7, 0.5, NOT_HELD)],
)
def test_final_and_best_values_must_agree(final, best, expected):
    assert replays({"fedavg": [[4, final, best]]})[0] == expected


def test_an_unstable_run_is_counted_and_not_compared():
    result = replays({"fedavg": [[4, 0.75, 0.5]], "fedac-1": [[4, 9.0, 9.0]]})
    assert result[0] == HELD and "1 published runs" in result[1]
    assert replays({"fedac-1": [[4, 9.0, 9.0]]})[0] == NOT_TESTED


@pytest.mark.parametrize("runs", [[[4, 0.75]], [[4, 1, 0.75, 0.5]], [[4, 0.0, 0.5]]])
def test_a_published_run_is_the_values_of_all_axes_and_two_values(runs):
    with pytest.raises(UserError, match="must be the values of 1 axes and two values"):
        replays({"fedavg": runs})


def test_no_published_run_is_left_out():
    options = {"kind": "reaches", "quantity": "replay", "at_most": 1e-12, "algorithms": ["fedavg"]}
    with pytest.raises(UserError, match="runs must be those of all algorithms"):
        CHECKS.build({**options, "runs": {"fedavg": [[4, 0.75, 0.5]], "fedac-1": [[4, 9.0, 9.0]]}})
