"""Verdicts in claims.csv and on pages: order, signs, the one at the largest size that tests it, q-values."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.experiments import SIZES
from fedatlas.io.csv import unescape
from fedatlas.io.text import read_text
from fedatlas.results.claims.verdicts import (
    COLUMNS,
    EQUAL,
    HELD,
    MORE,
    NOT_HELD,
    NOT_TESTED,
    UNDECIDED,
    UNTESTED,
    VACUOUS,
)
from fedatlas.results.comparing.discoveries import q_values
from fedatlas.results.comparing.intervals import LEVEL
from fedatlas.results.comparing.medians import needed_seeds

if TYPE_CHECKING:
    import pandas as pd

OMISSIBLE = ("p",)  # columns that committed files may lack
SIZES_DESCENDING = SIZES[::-1]
# class in report.css and sign of each verdict that claims.csv may hold
VERDICTS = {
    HELD: ("held", "✓"),
    MORE: ("held", "✓✓"),
    EQUAL: ("undecided", "="),
    UNDECIDED: ("undecided", "?"),
    NOT_HELD: ("not-held", "✗"),
    VACUOUS: ("not-tested", "∅"),
    UNTESTED: ("not-tested", "–"),
    NOT_TESTED: ("not-tested", "–"),
}


def rests_on_normal_noise(claim: Mapping[str, str]) -> bool:
    """Return whether a verdict rests on Student's interval alone, with fewer seeds than an exact one needs.

    Args:
        claim: A row of claims.csv as text. Exact and deterministic claims have no p-value.
    """
    decided = claim["verdict"] in (HELD, MORE, EQUAL, NOT_HELD)
    return bool(decided and claim["p"] and claim["seeds"]) and float(claim["seeds"]) < needed_seeds(LEVEL)


def seeds_text(claim: Mapping[str, str]) -> str:
    """Return the number of seeds of a claim, with a t where its verdict rests on normal noise."""
    return f"{claim['seeds']} (t)" if rests_on_normal_noise(claim) else claim["seeds"]


def with_q_values(claims: "pd.DataFrame", families: Mapping[str, str]) -> "pd.DataFrame":
    """Return claims with the column q, of which each paper's claims are a family, and those of no paper another one.

    Args:
        claims: Rows of claims.csv as text; ``p`` is empty, or missing, where no test gives a p-value.
        families: Name of the family by experiment.
    """
    if "p" not in claims:
        claims = claims.assign(p="")
    claims = claims.assign(p=claims["p"].fillna(""), q="")
    for _, rows in claims.groupby(claims["experiment"].map(families), sort=False):
        values = q_values([float(p) if p != "" else None for p in rows["p"]])
        claims.loc[rows.index, "q"] = ["" if q is None else f"{q:.3g}" for q in values]
    return claims


def read_claims(*paths: Path) -> "pd.DataFrame":
    """Return the rows of several claims.csv as text. Raises UserError as `read_verdicts`."""
    import pandas as pd

    rows = [row for path in paths for row in read_verdicts(path)]
    return pd.DataFrame(rows, columns=None if rows else list(COLUMNS)).fillna("")


def read_verdicts(path: Path) -> list[dict[str, str]]:
    """Return the rows of a claims.csv. Raises UserError if the file is not one."""
    lines = csv.DictReader(io.StringIO(read_text(path), newline=""))
    try:
        rows = [{name: unescape(text) for name, text in row.items()} for row in lines]
    except csv.Error as error:
        raise UserError(f"{path} is not CSV: {error}") from None
    for row in rows:
        texts = all(isinstance(row.get(name), str) for name in COLUMNS if name not in OMISSIBLE)
        if not texts or row["verdict"] not in VERDICTS or row["size"] not in SIZES_DESCENDING:
            raise UserError(f"{path} holds no claims of fedatlas: it lacks columns or cells, or has another verdict")
    return rows


def at_largest_size(claims: Iterable[Mapping[str, str]]) -> dict[tuple[str, str], Mapping[str, str]]:
    """Return each claim once, by experiment and name: at the largest size that tests it.

    Args:
        claims: Rows of claims.csv of several experiments at several sizes.
    """
    result: dict[tuple[str, str], Mapping[str, str]] = {}
    for row in sorted(claims, key=lambda row: (row["verdict"] == NOT_TESTED, SIZES_DESCENDING.index(row["size"]))):
        result.setdefault((row["experiment"], row["claim"]), row)
    return result
