"""What tables, figures and claims know of an experiment."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fedatlas.experiments.cells import Axes, Select, Spec


@dataclass(frozen=True)
class Shown:
    """An algorithm of an experiment as figures and claims know it. name: for people."""

    algorithm: str
    name: str
    set: dict[str, Any] = field(default_factory=dict)
    tune: Axes = field(default_factory=dict)
    setting: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class View:
    """What tables, figures and claims know of an experiment.

    axes: names of the axes of grid and within. tune: names of all tuned hyper-parameters. seeds: those that are scored.
    algorithms: by id.
    """

    name: str
    size: str
    axes: list[str]
    tune: list[str]
    select: Select
    problem: Spec
    setting: dict[str, Any]
    seeds: list[int]
    algorithms: dict[str, Shown]

    def plain(self) -> dict[str, Any]:
        """The view as JSON types."""
        return dataclasses.asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "View":
        """The view that ``plain`` gave."""
        select, shown = Select(**plain["select"]), {id: Shown(**one) for id, one in plain["algorithms"].items()}
        return cls(**{**plain, "select": select, "algorithms": shown})


EMPTY = View("", "", [], [], Select(metric="", statistic="best", goal="min"), {}, {}, [], {})
