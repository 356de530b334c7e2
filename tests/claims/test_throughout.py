"""The check of metrics at every evaluation."""

import math

import pytest

from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED
from tests.synthetic import curves, table

from .fixtures import judged, view

LINES = [("fedavg", 4, 0, [(0, math.nan), (1, 2.0), (2, 0.5)]), ("fedavg", 8, 1, [(0, math.nan), (1, 1.0), (2, 0.25)])]


def throughout(**options):
    frame = curves(LINES)
    frame["loss"], frame["status"] = 2 * frame["suboptimality"], options.pop("status", "ok")
    options = {"kind": "reaches", "quantity": "every", "algorithms": ["fedavg"], "metric": "suboptimality"} | options
    result = judged(view(), table([("fedavg", 4, 1), ("fedavg", 8, 1)]), frame, **options)
    return result["verdict"]


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
