"""The verdicts on a claim."""

HELD = "held"
MORE = "held and more"
UNDECIDED = "undecided"
NOT_HELD = "not held"
VACUOUS = "vacuous"
NOT_TESTED = "not tested at this size"
