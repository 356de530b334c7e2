"""What tables, figures and claims know of an experiment."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fedatlas.experiments.cells import Axes, Select, Spec


@dataclass(frozen=True)
class AlgorithmView:
    """An algorithm of an experiment as figures and claims know it. name: for people."""

    algorithm: str
    name: str
    set: dict[str, Any] = field(default_factory=dict)
    tune: Axes = field(default_factory=dict)
    setting: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ExperimentView:
    """What tables, figures and claims know of an experiment.

    axes: names of the axes of grid and within. tune: names of all tuned hyper-parameters. seeds: those that are scored.
    algorithms: by id. cases: names of the experiment's cases for people. undefined: by id of an algorithm and case, why
    the algorithm is not defined there.
    """

    name: str
    size: str
    axes: list[str]
    tune: list[str]
    select: Select
    problem: Spec
    setting: dict[str, Any]
    seeds: list[int]
    algorithms: dict[str, AlgorithmView]
    cases: dict[str, str] = field(default_factory=dict)
    undefined: dict[str, dict[str, str]] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """The view as JSON types; what only experiments with cases have is left out of others."""
        found = dataclasses.asdict(self)
        return {key: value for key, value in found.items() if value or key not in ("cases", "undefined")}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "ExperimentView":
        """The view that ``plain`` gave."""
        select, shown = Select(**plain["select"]), {id: AlgorithmView(**one) for id, one in plain["algorithms"].items()}
        return cls(**{**plain, "select": select, "algorithms": shown})


EMPTY = ExperimentView("", "", [], [], Select(metric="", statistic="best", goal="min"), {}, {}, [], {})
