"""The view of an experiment that tables, figures and claims have: axes, algorithms, seeds and how scores are made."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from fedatlas.experiments.cells import Axes, Select, Spec
from fedatlas.registry.options import option

Size = Literal["smoke", "laptop", "paper"]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of the paper, and a check of it."""

    text: str = option(doc="the claim in the paper's words or nearly so")
    source: str = option(doc="where the paper makes it")
    sizes: list[Size] | None = option(None, doc="sizes at which it is tested; by default all")
    note: str | None = option(None, doc="why a tolerance was chosen, or why the claim fails if that is known")
    interpretation: str | None = option(
        None, doc="how the sentence is read, where it has several meanings: each is a claim"
    )
    check: dict[str, Any] = option(doc="kind of the check, and its options", family="check")
    vacuous: dict[str, Any] | None = option(
        None, doc="a check that, where it holds, leaves nothing to compare: the verdict is vacuous", family="check"
    )

    @property
    def checks(self) -> list[dict[str, Any]]:
        """The claim's checks."""
        return [self.check, *([self.vacuous] if self.vacuous is not None else [])]

    def tested_at(self, size: str) -> bool:
        """Return whether the claim is tested at a size."""
        return self.sizes is None or size in self.sizes


@dataclass(frozen=True)
class AlgorithmView:
    """An algorithm of an experiment, with its name in legends.

    tune: tuned hyper-parameters with their values. untuned: hyper-parameters that are fixed at a number although trials
    would tune them. deterministic: whether its runs are the same for all seeds. emphasis: whether figures emphasise it.
    """

    algorithm: str
    name: str
    set: dict[str, Any] = field(default_factory=dict)
    tune: Axes = field(default_factory=dict)
    setting: dict[str, Any] = field(default_factory=dict)
    untuned: list[str] = field(default_factory=list)
    deterministic: bool = False
    emphasis: bool = False


@dataclass(frozen=True)
class ExperimentView:
    """The keys of an experiment that tables, figures and claims depend on.

    Attributes:
        axes: Names of the axes of grid and within.
        tune: Names of all tuned hyper-parameters.
        seeds: Seeds of the runs that are scored; where there are interim analyses, those that all such runs have.
        analyses: Numbers of seeds at which claims are judged, ascending; empty where the seeds are fixed.
        algorithms: Algorithms by id.
        cases: Labels of the experiment's cases by name.
        undefined: Reasons why algorithms are not defined, by id and case.
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
    analyses: list[int] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the view as JSON types."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "ExperimentView":
        """Return the view that `to_dict` turned into JSON types."""
        algorithms = {id: AlgorithmView(**algorithm) for id, algorithm in content["algorithms"].items()}
        return cls(**{**content, "select": Select(**content["select"]), "algorithms": algorithms})


EMPTY = ExperimentView("", "", [], [], Select(metric="", statistic="best", goal="min"), {}, {}, [], {})
