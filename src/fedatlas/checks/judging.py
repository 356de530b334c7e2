"""Verdicts on the claims of an experiment."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fedatlas.checks import build
from fedatlas.checks.results import NotTested, Results
from fedatlas.errors import UserError
from fedatlas.experiments.claim import Claim
from fedatlas.experiments.view import View
from fedatlas.theory.conditions import NotCovered

if TYPE_CHECKING:
    import pandas as pd

HELD, NOT_HELD, NOT_TESTED = "held", "not held", "not tested at this size"
COLUMNS = ("experiment", "size", "claim", "text", "source", "paper", "ours", "verdict", "note")


def check(view: View, claims: Mapping[str, Claim], table: "pd.DataFrame", curves: "pd.DataFrame") -> "pd.DataFrame":
    """Verdicts on all claims of an experiment: a DataFrame with COLUMNS and a row for each claim.

    view: of the experiment. claims: by name. table, curves: its results. Raises UserError, naming experiment and claim,
    if a check does not fit the results.
    """
    import pandas as pd

    results = Results(view, table, curves)
    rows = []
    for name, claim in claims.items():
        try:
            rows.append(_row(results, name, claim))
        except UserError as error:
            raise UserError(f"{view.name} (size {view.size}): claims.{name}.check: {error}") from None
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(results: Results, name: str, claim: Claim) -> dict[str, str | float]:
    asked = build(claim.check)
    row: dict[str, str | float] = {
        "experiment": results.view.name,
        "size": results.view.size,
        "claim": name,
        "text": claim.text,
        "source": claim.source,
        "paper": "" if asked.paper is None else asked.paper,
        "ours": "",
        "verdict": NOT_TESTED,
        "note": _join(claim.note or ""),
    }
    if not claim.tested_at(results.view.size):
        return row
    try:
        outcome = asked.judge(results)
    except (NotTested, NotCovered) as reason:
        return row | {"note": _join(f"{str(reason)[:1].upper()}{str(reason)[1:]}.", claim.note or "")}
    verdict = HELD if outcome.held else NOT_HELD
    return row | {"ours": outcome.ours, "verdict": verdict, "note": _join(outcome.note, claim.note or "")}


def _join(*notes: str) -> str:
    return " ".join(" ".join(notes).split())
