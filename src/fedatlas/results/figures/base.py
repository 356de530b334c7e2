"""What a kind of figure is, and the options that several kinds share."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from fedatlas.registry.kinds import Kind
from fedatlas.registry.options import option

if TYPE_CHECKING:
    import matplotlib.figure

    from fedatlas.experiments.cells import Run
    from fedatlas.results.figures.sheet import Sheet

Scale = Literal["log", "linear"]


@dataclass(frozen=True, kw_only=True)
class Figure(Kind):
    """A kind of figure or table. A subclass has a name, declares its options as fields, and draws itself.

    The caption, which every figure of an experiment has, belongs to the report and is no option.

    draws_results: whether it draws results of runs, which need one value for every axis that it does not spread.
    every_axis: whether it spreads all axes, those that no option names as well.
    """

    draws_results: ClassVar[bool] = True
    every_axis: ClassVar[bool] = False

    @classmethod
    def title(cls) -> str:
        """What sentences call the kind."""
        return f"figure {cls.name}"

    @property
    def inputs(self) -> frozenset[str]:
        """What the figure needs besides table and curves: ``partitions``, ``availability``, ``theorems``, ``memory``,
        ``dissimilarities``, ``simulated_seconds``.

        It may depend on the options.
        """
        return frozenset()

    def spreads(self) -> set[str]:
        """Axes of which the figure shows several values: those that its options name."""
        return {
            axis
            for name, one in self.options().items()
            if one.names == "axis" and (axis := getattr(self, name)) is not None
        }

    def measures(self) -> set[str]:
        """Axes whose values must be numbers, as the options are."""
        return set()

    def fits(self, runs: "Iterable[tuple[str, Run]]") -> None:
        """Raise UserError if the figure asks what is not known of its runs, such as the bound of a theorem.

        Called before any job. runs: (id of the algorithm, Run) for each of its algorithms and each point of the axes
        that it keeps.
        """

    def draw(self, sheet: "Sheet") -> "matplotlib.figure.Figure":
        """Draw the figure, not yet laid out. Raises UserError if its options do not fit the results."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Kept(Figure):
    """A figure of some points of the axes."""

    where: dict[str, Any] = option(
        dict, doc="values to keep, by axis: one, a list of them, or max or min", names="where"
    )


@dataclass(frozen=True, kw_only=True)
class Chosen(Kept):
    """A figure of some algorithms."""

    algorithms: list[str] | None = option(None, doc="algorithms to draw; by default all", names="algorithms")


@dataclass(frozen=True, kw_only=True)
class Panelled(Chosen):
    """A figure with panels."""

    panel: str | None = option(None, doc="axis with a panel for each value", names="axis")
