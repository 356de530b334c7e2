"""Verdicts on the claims of an experiment."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.experiments.claim import Claim
from fedatlas.results.claims import build
from fedatlas.results.claims.base import Check
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import HELD, MORE, NOT_TESTED, VACUOUS, NotTested
from fedatlas.theory import NotCovered

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "experiment",
    "size",
    "claim",
    "text",
    "reading",
    "source",
    "paper",
    "ours",
    "verdict",
    "value",
    "low",
    "high",
    "seeds",
    "note",
)


def judge_claims(
    claims: Mapping[str, Claim], results: Results, given: Callable[[Check], Results] | None = None
) -> "pd.DataFrame":
    """Verdicts on all claims of an experiment: a DataFrame with COLUMNS and a row for each claim.

    claims: by name. given: the results for a check, where some need more than others; by default ``results``. Raises
    UserError, naming experiment and claim, if a check does not fit the results.
    """
    import pandas as pd

    view, rows = results.view, []
    for name, claim in claims.items():
        try:
            rows.append(_row(results, name, claim, given or (lambda _: results)))
        except UserError as error:
            raise UserError(f"{view.name} (size {view.size}): claims.{name}.check: {error}") from None
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(results: Results, name: str, claim: Claim, given: Callable[[Check], Results]) -> dict[str, str | float]:
    asked = build(claim.check)
    row: dict[str, str | float] = dict.fromkeys(COLUMNS, "")
    row |= {
        "experiment": results.view.name,
        "size": results.view.size,
        "claim": name,
        "text": _join(claim.text),
        "reading": claim.reading or "",
        "source": claim.source,
        "paper": "" if asked.paper is None else asked.paper,
        "verdict": NOT_TESTED,
        "note": _join(claim.note or ""),
    }
    if not claim.tested_at(results.view.size):
        return row
    try:
        outcome = asked.judge(given(asked))
        other = build(claim.vacuous) if claim.vacuous is not None else None
        empty = other and other.judge(given(other))
    except (NotTested, NotCovered) as reason:
        return row | {"note": _join(f"{str(reason)[:1].upper()}{str(reason)[1:]}.", claim.note or "")}
    row |= {"ours": outcome.text, "verdict": outcome.verdict, "note": _join(outcome.note, claim.note or "")}
    if empty and empty.verdict in (HELD, MORE):
        row |= {
            "verdict": VACUOUS,
            "note": _join(f"Nothing is compared: {empty.text}.", outcome.note, claim.note or ""),
        }
    number = outcome.measurement
    if number is not None:
        found = {"value": number.value, "low": number.low, "high": number.high, "seeds": number.seeds}
        row |= {key: "" if value is None else value for key, value in found.items()}
    return row


def _join(*notes: str) -> str:
    return " ".join(" ".join(notes).split())
