"""The record of a metric, which says how its values are read, drawn and, where needed, computed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A number that evaluations report.

    Attributes:
        name: Column in run files.
        words: Words for people.
        head: Head of a narrow column; by default the words.
        symbol: TeX between dollar signs, or nothing.
        larger_is_better: Whether the larger of two values is the better one.
        scale: Scale of an axis that shows it, unless a figure says otherwise.
        percent: Whether tables show it in percent.
        unit: Unit, such as ``s``.
        compute: Function of the problem and the output (d,) that returns the number, for metrics that a setting asks
            for in ``metrics``; None for those that problems report by themselves.
    """

    name: str
    words: str
    head: str = ""
    symbol: str = ""
    larger_is_better: bool = False
    scale: Literal["linear", "log"] = "linear"
    percent: bool = False
    unit: str = ""
    compute: Callable[[Any, Any], float] | None = None

    @property
    def goal(self) -> Literal["min", "max"]:
        """Direction of good values."""
        return "max" if self.larger_is_better else "min"
