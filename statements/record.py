"""`python -m statements.record [PAPER ... | missing]` attacks statements for minutes and writes slack.csv."""

import csv
import sys
from pathlib import Path

from statements import PAPERS
from statements.attack import attack

SLACK = Path(__file__).with_name("slack.csv")
FIELDS = ("paper", "statement", "trials", "excess")
LONG = {"dice": 2000, "climbs": 6, "steps": 800, "evolve": 20}
SECONDS = 10  # of the processor for one statement: the rest of its search is left out


def read():
    """Return the rows of slack.csv."""
    with SLACK.open(newline="") as file:
        return list(csv.DictReader(file))


def main(names):
    """Attack statements, and keep the rows of others.

    Args:
        names: Papers, or `missing` for the statements without a row; all where there are none.
    """
    rows = {(row["paper"], row["statement"]): row for row in (read() if SLACK.exists() else [])}
    for paper, statements in PAPERS.items():
        for statement in statements:
            key = paper, statement.number
            if not names or paper in names or ("missing" in names and key not in rows):
                finding = attack(statement, seed=1, **LONG, seconds=SECONDS)
                rows[key] = dict(zip(FIELDS, (*key, finding.trials, f"{finding.excess:.3g}"), strict=True))
                print(*rows[key].values(), "false" if finding.false else "", flush=True)
    with SLACK.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        present = [(paper, statement.number) for paper, statements in PAPERS.items() for statement in statements]
        writer.writerows(rows[key] for key in present if key in rows)


if __name__ == "__main__":
    main(sys.argv[1:])
