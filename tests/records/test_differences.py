"""The comparison of a run with its second computation."""

import math

import pytest

from fedatlas.records.verification import compare
from fedatlas.records.verified import TOLERANCES


def run(**changes):
    """Rows of a run of which the last ones are near the optimum."""
    columns = {
        "round": [0, 1, 2, 3],
        "loss": [0.7, 0.5, 0.4, 0.4],
        "suboptimality": [0.3, 0.1, 1e-9, 1e-16],
        "gradient_norm": [1.0, 2.0, 4.0, 8.0],
        "seconds": [0.0, 1.0, 2.0, 3.0],
        "status": ["ok"] * 4,
    } | changes
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def fault(changed, kind="float64", some_rows=False):
    found, _ = compare(run(), changed, TOLERANCES[kind], some_rows)
    return found.partition(" is ")[0] or None


@pytest.mark.parametrize(
    ("column", "values", "where"),
    [
        ("suboptimality", [0.3, 0.1, 1e-9, 5e-15], "suboptimality in round 3"),  # fifty times as large
        ("suboptimality", [0.3, 0.1, 1e-9, 2e-16], None),  # the rounding of a loss of 0.7
        ("gradient_norm", [3.0, 6.0, 12.0, 8.0], "gradient_norm in round 0"),  # a run that diverges
        ("gradient_norm", [1.0, 2.0, 4.0, 8.0 * (1 + 1e-8)], "gradient_norm in round 3"),
        ("gradient_norm", [1.0, 2.0, 4.0, 8.0 * (1 + 1e-10)], None),
        ("loss", [0.7, 0.5, math.nan, 0.4], "loss in round 2"),
        ("loss", [0.7, 0.5, math.inf, 0.4], "loss in round 2"),
        ("status", ["ok"] * 3 + ["diverged"], "status in round 3"),
        ("seconds", [0.0, 9.0, 9.0, 9.0], None),
        ("round", [0, 1, 2, 4], "the list of evaluated rounds"),
        ("more", [0.0] * 4, "the list of columns"),
    ],
)
def test_each_value_is_compared_with_itself(column, values, where):
    assert fault(run(**{column: values})) == where


def test_single_precision_is_equal_to_five_digits():
    changed = run(gradient_norm=[1.0, 2.0, 4.0 * (1 + 5e-6), 8.0])
    assert fault(changed, "float32") is None and fault(changed) == "gradient_norm in round 2"
    assert fault(run(gradient_norm=[1.0, 2.0, 4.0 * (1 + 5e-5), 8.0]), "float32") == "gradient_norm in round 2"


@pytest.mark.parametrize(("end", "where"), [(4, None), (3, "the list of evaluated rounds")])
def test_where_some_rows_are_kept_the_last_one_is(end, where):
    found, _ = compare(run()[:2] + run()[3:end], run(), TOLERANCES["float64"], some_rows=True)
    assert (found.partition(" is ")[0] or None) == where
