"""Worst cases over all functions respect the statements, and the table has them."""

import pytest

from tests.statements import worst_cases


def test_no_worst_case_exceeds_its_bound():
    for row in worst_cases.read():
        assert 0 < float(row["tight"]) <= float(row["bound"]) * (1 + 1e-3), row


@pytest.mark.slow
def test_the_table_is_that_of_performance_estimation():
    pytest.importorskip("PEPit", reason="the extra `statements` is not installed")
    computed = [(*row[:3], pytest.approx(row[3], rel=1e-2)) for row in worst_cases.rows()]
    assert [(*list(row.values())[:3], float(row["tight"])) for row in worst_cases.read()] == computed
