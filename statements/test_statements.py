"""The attack finds the false statements and no others, planted errors too, and the tables are of today's statements."""

from collections import Counter

import numpy as np
import pytest

from statements import PAPERS, PLANTED, page, record
from statements.attack import FOUND, attack, planted
from statements.draws import Draw

STATEMENTS = [statement for paper in PAPERS.values() for statement in paper]
ROWS = page.coverage()
FAST = {"dice": 40, "climbs": 1, "steps": 40}
FALSE = {"dice": 1000, "climbs": 3, "steps": 200, "first": True}


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.name)
def test_attack(statement):
    finding = attack(statement, **(FALSE if statement.false else FAST))
    assert finding.false == statement.false, f"excess {finding.excess} at {finding.point.tolist()}"


@pytest.mark.parametrize("paper", PAPERS)
def test_planted_errors(paper):
    """The attack finds at least nine of ten errors that are planted in true statements."""
    named = {statement.sides: statement for statement in PAPERS[paper]}
    errors = [planted(named[sides], right, wrong) for sides, right, wrong in PLANTED[paper]]
    found = [attack(error, **FAST, first=True).false for error in errors]
    assert len(found) >= 10 and sum(found) >= 0.9 * len(found), f"{sum(found)} of {len(found)} errors found"


def test_every_statement_is_in_one_row_of_the_coverage():
    assert Counter((row["paper"], row["statement"]) for row in ROWS).most_common(1)[0][1] == 1
    for statement in STATEMENTS:
        rows = [row for row in ROWS if row["paper"] == statement.paper and page.covers(row, statement.number)]
        assert len(rows) == 1, (statement.name, rows)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['paper']} {row['statement']}")
def test_coverage(row):
    """Attacked statements have functions, false ones an erratum, others a reason; experiments exist."""
    truths = {statement.false for statement in PAPERS[row["paper"]] if page.covers(row, statement.number)}
    assert {
        "attacked": truths == {False},
        "misprint": truths == {True, False},
        "follows": row["note"] and not truths,
        "not attacked": row["note"] and not truths,
        "runs": row["experiments"],
    }.get(row["status"], (page.ROOT / "docs" / "errata" / f"{page.erratum(row)}.md").exists())
    for name in row["experiments"].split():
        assert (page.ROOT / "config" / "experiments" / f"{name}.yaml").exists()


def test_recorded_slack_is_of_these_statements():
    found = {(row["paper"], row["statement"]): float(row["excess"]) > FOUND for row in record.read()}
    assert found == {(statement.paper, statement.number): statement.false for statement in STATEMENTS}


def test_pages_are_written():
    assert page.PAGE.read_text(encoding="utf-8") == page.text()
    assert page.NUMBERS.read_text(encoding="utf-8") == page.numbers()


def test_one_client_is_too_few_for_an_erratum_of_fedred():
    """One client is too few for (B.219) of FedRed."""
    sides = next(statement.sides for statement in PAPERS["fedred"] if statement.number == "(B.219), second identity")
    rng = np.random.default_rng(0)
    for clients, first in ((1, 0.0), (2, 0.5)):
        left, right = sides(Draw(np.concatenate([[first], rng.random(9)])))
        assert (left > right + 1e-12) == (clients > 1)
