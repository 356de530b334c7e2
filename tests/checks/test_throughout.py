"""The checks of metrics at every evaluation, and of costs along an axis."""

import math

import pytest

from fedatlas.checks.judging import HELD, NOT_HELD, NOT_TESTED
from fedatlas.errors import UserError
from tests.synthetic import curves, table

from .made import judged, view

LINES = [("fedavg", 4, 0, [(0, math.nan), (1, 2.0), (2, 0.5)]), ("fedavg", 8, 1, [(0, math.nan), (1, 1.0), (2, 0.25)])]


def throughout(**options):
    frame = curves(LINES)
    frame["loss"], frame["status"] = 2 * frame["suboptimality"], options.pop("status", "ok")
    options = {"kind": "throughout", "algorithms": ["fedavg"], "metric": "suboptimality"} | options
    found = judged(view(), table([("fedavg", 4, 1), ("fedavg", 8, 1)]), frame, **options)
    return found["verdict"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"at_least": 0.25}, HELD),
        ({"at_least": 0.25 * (1 + 1e-12)}, HELD),  # rounding error
        ({"at_least": 0.26}, NOT_HELD),
        ({"at_least": 0.26, "where": {"clients": 4}}, HELD),
        ({"at_most": 2}, HELD),
        ({"at_most": 1.9}, NOT_HELD),
        ({"of": "loss", "at_least": 0.5, "at_most": 0.5}, HELD),
        ({"of": "loss", "at_least": 0.6}, NOT_HELD),
        ({"at_most": 9, "status": "diverged"}, NOT_HELD),
        ({"metric": "accuracy", "at_most": 1}, NOT_TESTED),
    ],
)
def test_throughout(options, expected):
    assert throughout(**options) == expected


def test_it_needs_a_bound():
    with pytest.raises(UserError, match="at_least"):
        throughout()


def cost_slope(costs, **options):
    """costs: rounds until the metric has fallen to a tenth, by number of clients."""
    lines = [("fedavg", m, 0, [(0, 1.0), (k, 0.1), (k + 1, 0.01)]) for m, k in costs.items()]
    options = {"kind": "cost_slope", "algorithm": "fedavg", "axis": "clients", "reduction": 0.1} | options
    found = judged(view(), table([("fedavg", m, 1) for m in costs]), curves(lines), **options)
    return found["verdict"], found["ours"], found["note"]


@pytest.mark.parametrize(
    ("costs", "options", "expected"),
    [
        ({1: 3, 4: 12, 16: 48}, {"at_least": 0.95, "at_most": 1.05}, HELD),
        ({1: 3, 4: 12, 16: 48}, {"at_most": 0.5}, NOT_HELD),
        ({16: 48, 1: 48, 4: 48}, {"at_least": -0.05, "at_most": 0.05}, HELD),
        ({1: 7, 4: 7}, {"at_most": 0.05, "limit": 7}, HELD),
        ({1: 7, 4: 7}, {"at_most": 0.05, "limit": 6}, NOT_HELD),
        ({1: 7, 4: 7}, {"at_most": 0.05, "reduction": 0.001}, NOT_HELD),  # never attained
        ({4: 7}, {"at_most": 0.05}, NOT_TESTED),
    ],
)
def test_cost_slope(costs, options, expected):
    assert cost_slope(costs, **options)[0] == expected


def test_the_costs_are_named():
    assert cost_slope({4: 12, 1: 3}, at_least=0)[1:] == ("slope 1.00", "Communication rounds: 3, 12.")
