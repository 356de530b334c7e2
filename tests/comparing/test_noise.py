"""Which numbers of a table are within noise of the best."""

import math

import pytest

from fedatlas.results.comparing.intervals import within_noise


@pytest.mark.parametrize(
    ("means", "sds", "counts", "goal", "flags"),
    [
        ([0.70, 0.69, 0.50], [0.02, 0.02, 0.02], [5, 5, 5], "max", [True, True, False]),
        ([0.70, 0.69, 0.50], [0.02, 0.02, 0.02], [5, 5, 5], "min", [False, False, True]),
        ([1.0, 1.05], [0.02, 0.02], [3, 3], "min", [True, False]),
        ([1.0, 1.05, 9.0], [0.02, 0.02, 0.02], [3, 3, 3], "min", [True, True, False]),  # of two rivals
        ([1.0, 1.0 + 1e-12, 1.1], [0.0, 0.0, 0.0], [3, 3, 3], "min", [True, True, False]),
        ([1e-80, 9e-80, 1e-70], [1e-81, 1e-81, 1e-81], [3, 3, 3], "min", [True, False, False]),
        ([1.0, 1.01], [math.nan, math.nan], [1, 1], "min", [True, False]),
        ([math.inf, 2.0, math.nan], [0.1, 0.1, 0.1], [2, 2, 2], "min", [False, True, False]),
        ([math.nan], [math.nan], [2], "min", [False]),
        ([1.24, 1.38, 2.68], [0.03, 0.02, 0.20], [3, 3, 3], "min", [True, False, False]),  # the worst scatters most
    ],
)
def test_bold_is_what_is_within_noise_of_the_best(means, sds, counts, goal, flags):
    assert within_noise(means, sds, counts, goal) == flags
