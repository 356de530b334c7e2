"""q-values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fedatlas.publish.report.verdicts import q_values


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12))
def test_q_values_are_those_of_benjamini_and_hochberg(p_values):
    tests = [p for p in p_values if p is not None]
    expected = iter(stats.false_discovery_control(tests) if tests else ())
    result = q_values(p_values)
    assert [q is None for q in result] == [p is None for p in p_values]
    assert [q for q in result if q is not None] == pytest.approx(list(expected))
