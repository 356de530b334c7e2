"""Verdicts on the claims of an experiment, as a table."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.experiments.claim import Claim
from fedatlas.results.claims import build
from fedatlas.results.claims.base import Check
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import COLUMNS, HELD, MORE, NOT_TESTED, VACUOUS, NotTested
from fedatlas.theory import NotCovered

if TYPE_CHECKING:
    import pandas as pd


def judge_claims(
    claims: Mapping[str, Claim], results: Results, results_for: Callable[[Check], Results] | None = None
) -> "pd.DataFrame":
    """Return the verdicts on all claims of an experiment.

    Args:
        claims: The claims by name.
        results: The results of the experiment.
        results_for: Function that returns the results for a check, where some checks need additional columns; by
            default ``results`` are used.

    Returns:
        A DataFrame with COLUMNS and a row for each claim.

    Raises:
        UserError: If a check does not fit the results; the text has experiment and claim.
    """
    import pandas as pd

    view, rows = results.view, []
    for name, claim in claims.items():
        try:
            rows.append(_row(results, name, claim, results_for or (lambda _: results)))
        except UserError as error:
            raise UserError(f"{view.name} (size {view.size}): claims.{name}.check: {error}") from None
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(results: Results, name: str, claim: Claim, results_for: Callable[[Check], Results]) -> dict[str, str | float]:
    check = build(claim.check)
    row: dict[str, str | float] = dict.fromkeys(COLUMNS, "")
    row |= {
        "experiment": results.view.name,
        "size": results.view.size,
        "claim": name,
        "text": _join(claim.text),
        "reading": claim.reading or "",
        "source": claim.source,
        "paper": "" if check.paper is None else check.paper,
        "verdict": NOT_TESTED,
        "changed": claim.changed or "",
        "written": claim.written or "",
        "note": _join(claim.note or ""),
    }
    if not claim.tested_at(results.view.size):
        return row
    try:
        outcome = check.judge(results_for(check))
        vacuity_check = build(claim.vacuous) if claim.vacuous is not None else None
        vacuity = vacuity_check and vacuity_check.judge(results_for(vacuity_check))
    except (NotTested, NotCovered) as reason:
        return row | {"note": _join(f"{str(reason)[:1].upper()}{str(reason)[1:]}.", claim.note or "")}
    row |= {"ours": outcome.text, "verdict": outcome.verdict, "note": _join(outcome.note, claim.note or "")}
    if vacuity and vacuity.verdict in (HELD, MORE):
        row |= {
            "verdict": VACUOUS,
            "note": _join(f"Nothing is compared: {vacuity.text}.", outcome.note, claim.note or ""),
        }
    if outcome.measurement is not None:
        numbers = dataclasses.asdict(outcome.measurement)
        row |= {key: "" if number is None else number for key, number in numbers.items()}
    return row


def _join(*notes: str) -> str:
    return " ".join(" ".join(notes).split())
