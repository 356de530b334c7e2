"""Theorems and closed forms about problems and runs. Each package or file named after an algorithm is one paper's."""

from fedatlas.errors import UserError


class NotCovered(UserError):
    """A condition of a theorem on constants and hyper-parameters does not hold in a run."""
