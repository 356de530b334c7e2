"""Verdicts on claims, the outcomes of checks that carry them, and the columns of the table that holds them."""

from dataclasses import dataclass

HELD = "held"
MORE = "held and more"
EQUAL = "equal"
UNDECIDED = "undecided"
NOT_HELD = "not held"
VACUOUS = "vacuous"
UNTESTED = "not tested"  # because what failed was not tuned
NOT_TESTED = "not tested at this size"

COLUMNS = (  # of claims.csv
    "experiment",
    "size",
    "claim",
    "text",
    "interpretation",
    "source",
    "paper",
    "ours",
    "verdict",
    "value",
    "low",
    "high",
    "seeds",
    "p",
    "note",
)


class NotTested(Exception):
    """The results do not hold what a claim is about. The text says what is missing, without a full stop."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a check.

    text: the results in words. verdict: one of the constants above. note: a remark. value: the number that decides, if
    one does. low, high: ends of its interval over seeds, if it has one. seeds: number of seeds. p: p-value of the
    verdict, where a test gives one: the smallest level at which the claim is decided in this way.
    """

    text: str
    verdict: str
    note: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    seeds: int | None = None
    p: float | None = None
