"""The ledger of claims: rows of claims.csv of several experiments at several sizes."""

from typing import TYPE_CHECKING

from fedatlas.results.claims.verdicts import NOT_TESTED

if TYPE_CHECKING:
    import pandas as pd

SIZES = ("paper", "laptop", "smoke")  # the largest first


def largest(ledger: "pd.DataFrame") -> "pd.DataFrame":
    """Each claim once: at the largest size that tests it. ledger: rows of claims.csv of several experiments."""
    order = ledger.assign(
        tested=(ledger["verdict"] == NOT_TESTED).astype(int), rank=ledger["size"].map(SIZES.index)
    ).sort_values(["tested", "rank"], kind="stable")
    return order.drop_duplicates(["experiment", "claim"]).drop(columns=["tested", "rank"]).sort_index()
