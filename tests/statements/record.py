"""`python -m tests.statements.record [PAPER ...]` attacks all statements for minutes and writes slack.csv."""

import csv
import sys
from pathlib import Path

from tests.statements import PAPERS
from tests.statements.attack import attack

SLACK = Path(__file__).with_name("slack.csv")
FIELDS = ("paper", "statement", "trials", "excess")
LONG = {"dice": 2000, "climbs": 6, "steps": 800, "evolve": 20}
SECONDS = 10  # of the processor for one statement: the rest of its search is left out


def read():
    """Return the rows of slack.csv."""
    with SLACK.open(newline="") as file:
        return list(csv.DictReader(file))


def main(papers):
    """Attack the statements of papers, and keep the rows of others.

    Args:
        papers: Names; all where there are none.
    """
    rows = [row for row in (read() if SLACK.exists() else []) if papers and row["paper"] not in papers]
    for paper in papers or PAPERS:
        for statement in PAPERS[paper]:
            finding = attack(statement, seed=1, **LONG, seconds=SECONDS)
            excess = f"{finding.excess:.3g}"
            rows.append(dict(zip(FIELDS, (paper, statement.number, finding.trials, excess), strict=True)))
            print(*rows[-1].values(), "false" if finding.false else "", flush=True)
    with SLACK.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: list(PAPERS).index(row["paper"])))


if __name__ == "__main__":
    main(sys.argv[1:])
