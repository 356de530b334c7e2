"""Orders of algorithms."""

import math

from fedatlas.results.comparing.ranking import rank_algorithms

from .fixtures import make_board

INF = math.inf


def test_algorithms_are_ranked():
    assert rank_algorithms(make_board([[[[30]]], [[[10]]], [[[INF]]], [[[20]]]])) == [1, 3, 0, 2]
    assert rank_algorithms(make_board([[[[-0.3]]], [[[-0.9]]], [[[math.nan]]]], log=False)) == [1, 0, 2]
