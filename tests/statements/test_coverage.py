"""The table of all numbered statements has each once, with a status that the code and the experiments bear out."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from tests.statements import PAPERS
from tests.statements.attack import FOUND
from tests.statements.page import NUMBERS, PAGE, ROOT, attacks, coverage, covers, erratum, lines, nearest
from tests.statements.record import read

ROWS = coverage()
STATUSES = {"attacked", "false", "defect", "misprint", "runs", "follows", "not attacked"}


def test_every_attacked_statement_is_in_one_row():
    for paper, statements in PAPERS.items():
        for statement in statements:
            rows = [row["statement"] for row in ROWS if row["paper"] == paper and covers(row, statement.number)]
            assert len(rows) == 1, (statement.name, rows)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['paper']} {row['statement']}")
def test_row(row):
    """Attacked ones have functions, false ones an erratum, others a reason."""
    functions = [s for s in PAPERS[row["paper"]] if covers(row, s.number)]
    assert row["status"] in STATUSES and row["place"] and row["needs"]
    if row["status"] == "attacked":
        assert functions
    if row["status"] == "misprint":
        assert {s.false for s in functions} == {True, False}
    if row["status"] in ("false", "defect"):
        assert (ROOT / "docs" / "errata" / f"{erratum(row)}.md").exists()
    if row["status"] in ("follows", "not attacked"):
        assert row["note"] and not functions
    if row["status"] == "runs":
        assert row["experiments"]
    for name in row["experiments"].split():
        assert (ROOT / "config" / "experiments" / f"{name}.yaml").exists()


def test_numbers_of_statements():
    """All of the main texts have a status; sixty of the appendices were attacked."""
    assert len({(row["paper"], row["statement"]) for row in ROWS}) == len(ROWS)
    count = Counter((row["part"], bool(attacks(row))) for row in ROWS)
    assert count["main", True] + count["main", False] == 31 and count["appendix", True] >= 60


def test_recorded_slack_is_of_the_statements_of_today():
    """Every statement has a row in slack.csv, and its sign is that of the statement."""
    found = {(row["paper"], row["statement"]): float(row["excess"]) for row in read()}
    expected = {(s.paper, s.number): s.false for statements in PAPERS.values() for s in statements}
    assert {name: excess > FOUND for name, excess in found.items()} == expected


def test_nothing_of_fedatlas_takes_part():
    """The statements are computed by formulas of their own."""
    for path in Path(__file__).parent.glob("*.py"):
        lines = [line for line in path.read_text().splitlines() if line.startswith(("import ", "from "))]
        assert not [line for line in lines if "fedatlas" in line], path


def test_pages_are_written():
    assert PAGE.read_text(encoding="utf-8") == "\n".join(lines()) + "\n"
    with Path(NUMBERS).open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file))[1:] == [list(row) for row in sorted(nearest(ROWS))]
