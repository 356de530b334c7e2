"""Conditions of theorems."""

from fedatlas.errors import UserError


class NotCovered(UserError):
    """A condition of a theorem on constants and hyper-parameters does not hold in a run."""
