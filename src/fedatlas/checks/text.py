"""Texts by which several checks say what they found."""

from collections.abc import Callable, Sequence

from fedatlas import labels


def ends(values: Sequence[float], write: Callable[[float], str] = labels.number) -> str:
    """The smallest and the largest of some values: ``0.1 to 0.3``, or one number where both are written alike."""
    return " to ".join(dict.fromkeys(map(write, (min(values), max(values)))))


def ratio(value: float) -> str:
    """A ratio with four digits."""
    return f"{value:.4g}"
