"""`python -m statements.page` writes docs/statements.md, and the numbers that pages of the gallery quote.

They come from coverage.csv, which says of each statement what it needs and its status, and from slack.csv (record.py).
"""

import csv
import inspect
import io
from collections import Counter
from pathlib import Path

from statements import PAPERS, PLANTED
from statements.attack import FOUND
from statements.record import read

ROOT = Path(__file__).parents[1]
COVERAGE = Path(__file__).with_name("coverage.csv")
LOOSE = 0.01  # share of a bound below which it is called loose
PAGE, NUMBERS = ROOT / "docs" / "statements.md", ROOT / "docs" / "gallery" / "statements.csv"
METHODS = {"fedac": "FedAc", "fedawe": "FedAWE", "fedred": "FedRed", "fedsps": "FedSPS", "fedspeed": "FedSpeed"}
PARTS = {"main": "Main text", "appendix": "Appendices", "proof": "Equations of proofs"}
STATUSES = {  # what counts and rows of the page say, and what joins a row's note
    "attacked": ("attacked, nothing found", "nothing found", "; "),
    "false": ("false as printed, or in their proof", "**false**", "; "),
    "runs": ("tested in runs", "tested in runs", ": "),
    "defect": ("defects", "**a defect**, no false statement", "; "),
    "misprint": ("misprinted", "misprint", ": "),
    "follows": ("follow from others or in one line", "follows from", " "),
    "not attacked": ("not attacked", "not attacked", ": "),
}
INTRO = """# Statements

Every numbered statement of the five papers, with what was done to refute it. [Errata](errata.md) are the statements
that are false as printed, and a defect of an algorithm; where a proof repairs a misprint, [Fidelity](fidelity.md)
says so.

**How statements are attacked.** Statements that follow from others, or in one line from a definition or a well-known
inequality, are not attacked. Each other one is a function in the folder `statements` that reads like it: it draws an
instance, and returns the left and the right side. Draws are points of the unit cube, which become functions with exact
constants (piecewise quadratic ones, which turn the usual inequalities into equalities), hyper-parameters,
availability and sequences, with the ends of every range among them. Clients and dimensions are few. Expectations are
exact: over all signs of the noise, all sets of clients and all coins, or by the recursion of second moments on
quadratics. Dice, Nelder-Mead searches from the worst draws and a differential evolution look for the largest left
side. `make statements` does this for seconds of each statement, `python -m statements.record` for longer. The code
imports nothing of fedatlas.

**What an attack finds.** In true statements of each paper errors are planted: a constant halved, a sign turned, a
maximum for a minimum. A test demands that the attack of seconds finds nine of ten. {planted}

**What the numbers mean.** The slack is the difference of right and left side over the larger of both, the smallest
among all draws. Slack 0 says that the statement is sharp. A large slack says that this search, with its few clients,
steps and dimensions, came no nearer. No slack is a proof.

{counts}
"""


def coverage():
    """Return the rows of coverage.csv."""
    with COVERAGE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def covers(row, number):
    """Whether a row is about the statement of this number."""
    return number == row["statement"] or number.startswith((f"{row['statement']},", f"{row['statement']} "))


def attacks(row, false=None):
    """Return the rows of slack.csv on the statements of a row; false: those that are false or are not, or all."""
    wanted = {s.number for s in PAPERS[row["paper"]] if covers(row, s.number) and false in (None, s.false)}
    return [found for found in read() if found["paper"] == row["paper"] and found["statement"] in wanted]


def identities(paper):
    """Return the numbers of a paper's statements that are identities, of which a slack says nothing."""
    return {statement.number for statement in PAPERS[paper] if "equal(" in inspect.getsource(statement.sides)}


def slack(excess):
    """Return the smallest slack as text; rounding counts as 0, and a share of the bound below 1 % as loose."""
    if -excess > 0.99:
        return "above 0.99: loose"
    return f"{-excess:.2g}" if -excess > FOUND else "0"


def status(row):
    """Return what was found, in words."""
    _, words, join = STATUSES[row["status"]]
    note = row["note"]
    if row["status"] in ("false", "defect"):
        words += f": [erratum](errata/{erratum(row)}.md)"
        note = note.removeprefix(erratum(row)).lstrip(":; ")
    text = words + (join + note if note else "")
    if tried := attacks(row, false=False):
        excesses = [float(found["excess"]) for found in tried if found["statement"] not in identities(row["paper"])]
        number = f"slack {slack(max(excesses))}" if excesses else "identity"
        draws = sum(int(found["trials"]) for found in tried)
        text += f" ({number}, {draws:,} draws{', as corrected' if row['status'] in ('false', 'misprint') else ''})"
    pages = " ".join(map(experiment, row["experiments"].split()))
    return f"{text}. Runs: {pages}" if pages else text


def experiment(name):
    """Return the name of an experiment, with a link where the gallery has its page."""
    return f"[{name}](gallery/{name}.md)" if (NUMBERS.parent / f"{name}.md").exists() else f"`{name}`"


def counts(rows):
    """Return a table of how many statements have which status."""
    titles = " | ".join(title for title, _, _ in STATUSES.values())
    lines = [f"| | {titles} | all |", "|---|" + "---|" * (len(STATUSES) + 1)]
    for part, title in PARTS.items():
        number = Counter(row["status"] for row in rows if row["part"] == part)
        lines.append(f"| {title} | " + " | ".join(str(number[key]) for key in STATUSES) + f" | {number.total()} |")
    return "\n".join(lines)


def erratum(row):
    """Return the name of the erratum of a false statement's row."""
    return row["note"].partition(":")[0].partition(";")[0]


def nearest(rows):
    """Rows (experiment, statement, share, draws, erratum) on statements that experiments judge.

    The share is how near the attack brought the left side to the right one; a false statement has an erratum instead.
    """
    for row in rows:
        for experiment in row["experiments"].split():
            for found in attacks(row, false=False):
                if found["statement"] not in identities(row["paper"]):
                    share = f"{1 + min(float(found['excess']), 0):.3g}"
                    yield experiment, found["statement"], share, found["trials"], ""
            if row["status"] == "false":
                for found in attacks(row, false=True):
                    yield experiment, found["statement"], "", found["trials"], erratum(row)


CHOSEN = (
    "Three candidates that the attack did not find are not among them: two seem to change no truth, and of the third, "
    "the constant of FedSPS's Theorem 18, nobody has shown it."
)


def lines():
    """The page."""
    rows = coverage()
    numbers = ", ".join(f"{METHODS[paper]} {len(errors)}" for paper, errors in PLANTED.items())
    yield INTRO.format(counts=counts(rows), planted=f"Planted are {numbers}. {CHOSEN}")
    for paper, method in METHODS.items():
        yield f"## {method}\n"
        yield "| Statement | Place | Needs | Status |\n|---|---|---|---|"
        for row in rows:
            if row["paper"] == paper:
                yield f"| {row['statement']} | {row['place']} | {row['needs']} | {status(row)} |"
        yield ""
    yield "<!-- `python -m statements.page` writes this page. -->"


def text():
    """Return docs/statements.md."""
    return "\n".join(lines()) + "\n"


def numbers():
    """Return docs/gallery/statements.csv: what was found, in Markdown for pages of the gallery."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("experiment", "statement", "found"))
    for experiment, statement, share, draws, erratum in sorted(nearest(coverage())):
        if erratum:
            found = f"false ([erratum](../errata/{erratum}.md))"
        elif float(share) >= LOOSE:
            found = f"at worst {100 * float(share):.3g} % of the bound, in {int(draws):,} draws"
        else:
            found = f"at worst less than 1 % of the bound, which is loose there, in {int(draws):,} draws"
        writer.writerow((experiment, statement, found))
    return out.getvalue()


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
    NUMBERS.write_text(numbers(), encoding="utf-8")
