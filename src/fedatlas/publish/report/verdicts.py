"""Verdicts on a page: their order and signs, the one at the largest size that tests a claim, q-values by paper."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fedatlas.results.claims.verdicts import EQUAL, HELD, MORE, NOT_HELD, NOT_TESTED, UNDECIDED, UNTESTED, VACUOUS
from fedatlas.results.comparing.discoveries import q_values

if TYPE_CHECKING:
    import pandas as pd

SIZES_DESCENDING = ("paper", "laptop", "smoke")
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


def with_q_values(claims: "pd.DataFrame", papers: Mapping[str, str]) -> "pd.DataFrame":
    """Return claims with the column q, of which each paper's claims are a family.

    Args:
        claims: Rows of claims.csv as text; ``p`` is empty, or missing, where no test gives a p-value.
        papers: The paper's name or key by experiment.
    """
    if "p" not in claims:
        claims = claims.assign(p="")
    claims = claims.assign(p=claims["p"].fillna(""), q="")
    for _, rows in claims.groupby(claims["experiment"].map(papers), sort=False):
        values = q_values([float(p) if p != "" else None for p in rows["p"]])
        claims.loc[rows.index, "q"] = ["" if q is None else f"{q:.3g}" for q in values]
    return claims


def at_largest_size(claims: "pd.DataFrame") -> "pd.DataFrame":
    """Return each claim once: at the largest size that tests it.

    Args:
        claims: Rows of claims.csv of several experiments at several sizes.
    """
    order = claims.assign(
        untested=(claims["verdict"] == NOT_TESTED).astype(int), rank=claims["size"].map(SIZES_DESCENDING.index)
    ).sort_values(["untested", "rank"], kind="stable")
    return order.drop_duplicates(["experiment", "claim"]).drop(columns=["untested", "rank"]).sort_index()
