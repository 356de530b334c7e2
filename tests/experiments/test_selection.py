"""Choosing rows, and points without a table, by the values of their axes."""

import pandas as pd
import pytest

from fedatlas.experiments import axis_values
from fedatlas.experiments.selection import select_points, select_rows

IID, SKEWED = {"kind": "iid"}, {"kind": "dirichlet", "alpha": 0.3}
POINTS = [
    {"clients": clients, "p": p, "how": how}
    for clients in (4, 16, 64)
    for p, how in (([0.2, 0.5], IID), ([0.5, 0.5], SKEWED))
]


@pytest.mark.parametrize(
    "where, expected",
    [
        (None, [0, 1, 2, 3, 4, 5]),
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"clients": 16}, [2, 3]),
        ({"clients": [4, 64]}, [0, 1, 4, 5]),
        ({"clients": "max"}, [4, 5]),
        ({"clients": "min", "how": SKEWED}, [1]),
        ({"how": [IID, "shared"]}, [0, 2, 4]),
        ({"p": [0.5, 0.5]}, [1, 3, 5]),  # a list among lists is one value
        ({"clients": 5}, []),
        ({"clients": 5, "p": "max"}, []),
    ],
)
def test_points_are_those_of_the_rows(where, expected):
    assert select_points(POINTS, where) == expected
    columns = {axis: [point[axis] for point in POINTS] for axis in POINTS[0]}
    frame = pd.DataFrame({axis: list(map(axis_values.column(values), values)) for axis, values in columns.items()})
    assert select_rows(frame, where).index.tolist() == expected
