"""The units in which the numbers of an outcome are told, and which differences of them matter."""

from dataclasses import dataclass

from fedatlas.experiments import labels
from fedatlas.federation.metrics import metric


@dataclass(frozen=True)
class Unit:
    """The unit in which a number is told.

    Attributes:
        scale: How many of it are one of the number.
        ending: The text after the number.
    """

    scale: float = 1
    ending: str = ""

    def tell(self, *numbers: float) -> str:
        """Return a number in the unit, in words, or numbers that are compared: ``88.5 against 87.2 %``."""
        return " against ".join(labels.number(self.scale * number) for number in numbers) + self.ending


PLAIN = Unit()


def level_unit(name: str, ending: str = " %") -> Unit:
    """Return the unit of a metric: percent for shares, such as accuracies, of which differences are ``points``."""
    return Unit(100, ending) if metric(name).percent else PLAIN


def is_accuracy(name: str) -> bool:
    """Return whether a metric is an accuracy, of which what it lacks of 1 says how good it is."""
    return name.endswith("accuracy") or (metric(name).percent and metric(name).larger_is_better)


def smallest_effect(name: str, value: float, share: float) -> float:
    """Return the smallest difference from a value of a metric that matters.

    Args:
        name: The metric.
        value: The value, of an accuracy from 0 to 1.
        share: Share of the value that matters, or, of an accuracy, of what it lacks of 1.
    """
    return share * (1 - value if is_accuracy(name) else abs(value))
