"""Every numbered statement of the papers that can be computed is attacked; planted errors show what an attack finds."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.statements import PAPERS, PLANTED
from tests.statements.attack import FOUND, SIZE, attack, planted, worst

STATEMENTS = [statement for paper in PAPERS.values() for statement in paper]
FAST = {"dice": 40, "climbs": 1, "steps": 40}
FALSE = {"dice": 1000, "climbs": 3, "steps": 200, "first": True}
SLOW = {"dice": 500, "climbs": 4, "steps": 400, "evolve": 5, "seconds": 5}

statements = pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.name)


@statements
def test_attack(statement):
    """The attack finds the false statements and no others."""
    finding = attack(statement, **(FALSE if statement.false else FAST))
    assert finding.false == statement.false, f"excess {finding.excess} at {finding.point.tolist()}"


@pytest.mark.slow
@statements
def test_long_attack(statement):
    """So does a long one, from other dice."""
    finding = attack(statement, seed=1, **SLOW)
    assert finding.false == statement.false, f"excess {finding.excess} at {finding.point.tolist()}"


@pytest.mark.parametrize("statement", [s for s in STATEMENTS if not s.false], ids=lambda statement: statement.name)
def test_shrinking(statement):
    """Hypothesis finds no draw that refutes a true statement; one that it finds, it shrinks."""

    @settings(max_examples=12, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(st.floats(0, 1), min_size=SIZE // 2, max_size=SIZE))
    def holds(point):
        assert worst(statement, point)[0] <= FOUND

    holds()


@pytest.mark.parametrize("paper", PAPERS)
def test_planted_errors(paper, capsys):
    """The attack finds at least nine of ten errors that are planted in true statements."""
    named = {statement.sides: statement for statement in PAPERS[paper]}
    errors = (planted(named[sides], right, wrong) for sides, right, wrong in PLANTED[paper])
    found = [attack(error, **FAST, first=True).false for error in errors]
    with capsys.disabled():
        print(f"\n{paper}: {sum(found)} of {len(found)} planted errors found")
    assert len(found) >= 10 and sum(found) >= 0.9 * len(found)
