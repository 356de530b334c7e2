"""Claims of papers as checks over results. A kind of check is a function, registered by name.

It gets the Results and the options of the claim's ``check`` as arguments, and returns an Outcome; what it cannot test
it raises as NotTested. To add one, write it in a module like ``scores`` and import that below: its signature says which
options a claim may and must give.
"""

from fedatlas.checks import costs, limits, rates, scores, spread, theorems
from fedatlas.checks.base import KINDS, NotTested, Results
from fedatlas.errors import UserError
from fedatlas.registry import lookup

__all__ = [
    "COLUMNS",
    "HELD",
    "KINDS",
    "NOT_HELD",
    "NOT_TESTED",
    "check",
    "costs",
    "limits",
    "rates",
    "run",
    "scores",
    "spread",
    "theorems",
]

HELD, NOT_HELD, NOT_TESTED = "held", "not held", "not tested at this size"
COLUMNS = ("experiment", "size", "claim", "text", "source", "paper", "ours", "verdict", "note")


def check(experiment, table, curves):
    """Check all claims of a loaded experiment: a DataFrame with COLUMNS. Raises UserError naming file and claim."""
    import pandas as pd

    results = Results(experiment, table, curves)
    rows = []
    for name, claim in experiment["claims"].items():
        options = {name: value for name, value in claim["check"].items() if value is not None}
        row = {"experiment": experiment["name"], "size": experiment["size"], "claim": name, "ours": ""}
        row |= {"text": claim["text"], "source": claim["source"], "paper": options.get("paper", "")}
        row |= {"verdict": NOT_TESTED, "note": _join(claim.get("note", ""))}
        if experiment["size"] in claim.get("sizes", [experiment["size"]]):
            try:
                outcome = run(results, options)
                row |= {"ours": outcome.ours, "verdict": HELD if outcome.held else NOT_HELD}
                row["note"] = _join(outcome.note, row["note"])
            except NotTested as reason:
                row["note"] = _join(f"{reason}.", row["note"])
            except UserError as error:
                raise UserError(f"{experiment['file']}: claims.{name}: {error}") from None
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def run(results, options):
    """Outcome of one check, given as ``{"kind": ..., option: ...}``."""
    options = dict(options)
    function = lookup("kind of check", options.pop("kind"), KINDS)
    if "paper" not in function.options:
        options.pop("paper", None)
    return function(results, **options)


def _join(*notes):
    return " ".join(" ".join(notes).split())
