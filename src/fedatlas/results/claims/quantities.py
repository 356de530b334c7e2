"""What a number in the text of an outcome is of, and the unit in which it is told."""

from collections.abc import Iterable
from dataclasses import dataclass

from fedatlas.experiments import labels
from fedatlas.federation.metrics import metric

STATISTICS = {"best": "best", "final": "last"}  # of the evaluations of a run


@dataclass(frozen=True)
class Unit:
    """The unit in which a number is told.

    Attributes:
        scale: How many of it are one of the number.
        ending: The text after the number.
    """

    scale: float = 1
    ending: str = ""

    def tell(self, number: float) -> str:
        """Return a number in the unit, in words."""
        return f"{labels.number(self.scale * number)}{self.ending}"


PLAIN = Unit()


def level_unit(name: str) -> Unit:
    """Return the unit of a metric or cost: percent for shares, such as accuracies."""
    return Unit(100, " %") if name not in labels.COSTS and metric(name).percent else PLAIN


def difference_unit(name: str) -> Unit:
    """Return the unit of differences of a metric or cost: points for shares, such as accuracies."""
    return Unit(100, " points") if name not in labels.COSTS and metric(name).percent else PLAIN


def score(name: str, statistic: str) -> str:
    """Return words for one value of a metric in each run, such as ``last test accuracy``; a cost stands alone.

    Args:
        name: The metric or cost.
        statistic: ``best`` or ``final``.
    """
    return labels.words(name) if name in labels.COSTS else f"{STATISTICS[statistic]} {labels.words(name)}"


def is_accuracy(name: str) -> bool:
    """Return whether a metric is an accuracy, of which what it lacks of 1 says how good it is."""
    return name not in labels.COSTS and (
        name.endswith("accuracy") or (metric(name).percent and metric(name).larger_is_better)
    )


def smallest_effect(name: str, value: float, share: float) -> float:
    """Return the smallest difference from a value of a metric that matters.

    Args:
        name: The metric or cost.
        value: The value, of an accuracy from 0 to 1.
        share: Share of the value that matters, or, of an accuracy, of what it lacks of 1.
    """
    return share * (1 - value if is_accuracy(name) else abs(value))


def sides(numbers: Iterable[float], unit: Unit) -> str:
    """Return numbers that are compared, with their unit once: ``88.5 against 87.2 %``."""
    return " against ".join(labels.number(unit.scale * number) for number in numbers) + unit.ending
