"""What a metric is: a record that says how its values are read, drawn and, where needed, computed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A number that evaluations report.

    name: its column in run files. words: for people. head: for the head of a narrow column; by default the words.
    symbol: TeX between dollar signs, or nothing. larger_is_better: which of two values is the better one. scale: of an
    axis that shows it, unless a figure says otherwise. percent: whether tables show it in percent. unit: such as
    ``s``. compute: a function of the problem and the output (d,) that gives the number, for metrics that a setting asks
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
        """Which values are good."""
        return "max" if self.larger_is_better else "min"
