"""Tuning rules: which tuned values run on the tuning seeds, for how many rounds, and which of them is chosen.

A module here that defines a named `TuningRule` is found by itself, and studies can add rules. Lists of values form a
grid, and ``trials`` draws from search spaces; another rule is named by the key ``tuning`` of an experiment.
"""

from fedatlas.experiments.tuning.base import TuningRule
from fedatlas.registry.kinds import Family

__all__ = ["TUNING_RULES", "TuningRule"]

TUNING_RULES: Family[TuningRule] = Family("tuning rule", __name__, TuningRule)
