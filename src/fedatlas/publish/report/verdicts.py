"""Verdicts on a page: their order and signs, and the verdict of each claim at the largest size that tests it."""

from typing import TYPE_CHECKING

from fedatlas.results.claims.verdicts import HELD, MORE, NOT_HELD, NOT_TESTED, UNDECIDED, VACUOUS

if TYPE_CHECKING:
    import pandas as pd

SIZES_DESCENDING = ("paper", "laptop", "smoke")
# class in report.css and sign of each verdict that claims.csv may hold
VERDICTS = {
    HELD: ("held", "✓"),
    MORE: ("held", "✓✓"),
    UNDECIDED: ("undecided", "?"),
    NOT_HELD: ("not-held", "✗"),
    VACUOUS: ("not-tested", "∅"),
    NOT_TESTED: ("not-tested", "–"),
}


def at_largest_size(claims: "pd.DataFrame") -> "pd.DataFrame":
    """Return each claim once: at the largest size that tests it.

    Args:
        claims: Rows of claims.csv of several experiments at several sizes.
    """
    order = claims.assign(
        untested=(claims["verdict"] == NOT_TESTED).astype(int), rank=claims["size"].map(SIZES_DESCENDING.index)
    ).sort_values(["untested", "rank"], kind="stable")
    return order.drop_duplicates(["experiment", "claim"]).drop(columns=["untested", "rank"]).sort_index()
