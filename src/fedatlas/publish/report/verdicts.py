"""Verdicts in claims.csv and on pages: order, signs, the one at the largest size that tests it, q-values."""

import csv
import io
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
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
from fedatlas.results.comparing.intervals import LEVEL
from fedatlas.results.comparing.medians import needed_seeds

if TYPE_CHECKING:
    import pandas as pd

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


def add_q_values(claims: Iterable[dict[str, str]], family: Callable[[Mapping[str, str]], Hashable]) -> None:
    """Set the key q of claims, which is empty where no test gives a p-value.

    Args:
        claims: Rows of claims.csv as text.
        family: Of a claim: what the claims have in common among which at most a share is expected to be wrong.
    """
    families: dict[Hashable, list[dict[str, str]]] = {}
    for row in claims:
        families.setdefault(family(row), []).append(row)
    for rows in families.values():
        values = q_values([float(row["p"]) if row["p"] else None for row in rows])
        for row, q in zip(rows, values, strict=True):
            row["q"] = "" if q is None else f"{q:.3g}"


def q_values(p_values: Sequence[float | None]) -> list[float | None]:
    """Return for each p-value the smallest share of wrong decisions among those with a p-value as small.

    It is the q-value of Benjamini & Hochberg (1995).

    If all claims with a q-value of at most 0.05 are decided, at most 5 % of these decisions are expected to be wrong.
    The rule holds for independent tests and for tests that are positively dependent.

    Args:
        p_values: The p-values of a family of tests; None where there is no test, which does not count.

    Returns:
        The q-values in the same order, None alike.
    """
    order = sorted((i for i, p in enumerate(p_values) if p is not None), key=lambda i: p_values[i] or 0.0, reverse=True)
    result: list[float | None] = [None] * len(p_values)
    q = 1.0
    for rank, i in zip(range(len(order), 0, -1), order, strict=True):
        q = min(q, (p_values[i] or 0.0) * len(order) / rank)
        result[i] = q
    return result


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
        row.setdefault("p", "")
        texts = all(isinstance(row.get(name), str) for name in COLUMNS)
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
