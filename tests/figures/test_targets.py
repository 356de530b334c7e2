"""The table of costs to targets."""

import pytest

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Select
from fedatlas.experiments.selection import rounds_to_target
from tests.synthetic import build, curves, experiment

from .drawings import build_figure, draw_figure, panels

SPEC = {"kind": "targets", "x": "rounds", "targets": [0.5, 0.9], "panel": "clients", "where": {"local_steps": 1}}


def accuracy(id, point, lr, seed, rounds):
    """Reaches 0.5 in round 8 or 16, and 0.9 never or in round 24."""
    fast = id == "fedac-1"
    return [0.95 if fast and r >= 24 else 0.6 if r >= (8 if fast else 16) else 0.1 for r in rounds]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    content = experiment(metric="test_accuracy", goal="max")
    return build(content, tmp_path_factory.mktemp("runs"), accuracy)


def cells(spec, results):
    """The heads of the columns, and the texts of each row, by name."""
    _, drawing = draw_figure(spec, results)
    ((_, rows),) = drawing.chart.blocks
    return [text for text, _ in drawing.chart.heads[-1]], {name: [cell.text for cell in row] for (name,), row in rows}


def test_rounds_to_targets(results):
    columns, rows = cells(SPEC, results)
    assert columns == ["0.5", "0.9"] * 3
    assert rows == {"FedAvg": ["16", "–"] * 3, "FedAc-I": ["8", "24"] * 3}


def test_seconds_come_with_seconds_a_round(results):
    spec = {**SPEC, "x": "seconds", "where": {"local_steps": 1, "clients": 4}, "panel": None}
    columns, rows = cells(spec, results)
    assert columns == ["a round", "0.5", "0.9"]
    assert rows["FedAc-I"] == ["1", "8", "24"]  # a round takes a second in made-up results


def test_a_round_counts_where_all_seeds_have_a_value():
    rows = [("fedavg", 4, 0, [(0, 0.1), (5, 0.9)]), ("fedavg", 4, 1, [(0, 0.1), (5, float("nan")), (10, 0.9)])]
    frame = curves(rows, metric="test_accuracy")
    select = Select(metric="test_accuracy", statistic="best", goal="max")
    assert rounds_to_target(frame, "test_accuracy", 0.8, select) == float("inf")
    assert rounds_to_target(frame[frame["seed"] == 0], "test_accuracy", 0.8, select) == 5


def test_costs_are_checked(results):
    with pytest.raises(UserError, match="no 'money'"):
        panels({**SPEC, "x": "money"}, results)


def test_there_must_be_a_target():
    with pytest.raises(
        UserError, match=r"^figure targets: targets is \[\]; it must be a list of different values that is not empty"
    ):
        build_figure({**SPEC, "targets": []})
    with pytest.raises(UserError, match="a list of different values"):
        build_figure({**SPEC, "targets": [0.5, 0.25, 0.5]})
