"""The facts of an experiment for report and MLflow: everything but its numbers, stored in about.json."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Select
from fedatlas.io.files import update_text
from fedatlas.io.text import read_json
from fedatlas.registry.bibliography import Reference
from fedatlas.registry.validation import restore

FACTS_FILE = "about.json"  # in the folder of an experiment's results
PROBLEM_CONSTANT = "the problem's"  # the value of a hyper-parameter that is one of the problem's constants


@dataclass(frozen=True)
class Parameters:
    """The hyper-parameters of an algorithm.

    Attributes:
        algorithm: Name of the algorithm for people.
        rows: Name, meaning and value of each hyper-parameter.
    """

    algorithm: str
    rows: list[tuple[str, str, str]]


@dataclass(frozen=True)
class ExperimentFacts:
    """An experiment as it is known before its runs.

    Attributes:
        name: Name of the experiment.
        size: Size.
        file: Path of the experiment file.
        title: Title.
        source: Figure or table of the paper.
        description: Description.
        notes: Choices and deviations.
        paper: Paper whose results are run again.
        figures: Captions of the figures that are drawn, by name.
        setup: Pairs (key, text) of the setup, for people.
        parameters: Tables of hyper-parameters, by algorithm.
        algorithms: Names for people by id.
        grid: Axes whose combinations have separate run files.
        axes: All axes.
        tune: Tuned hyper-parameters.
        tuned: Ids of the algorithms of which a value is chosen among several.
        select: Choice among tuned values.
        score: Name of the score, such as ``best suboptimality``.
        seeds: Seeds of the scores; where undecided comparisons get more, those that all have.
        defaults: Defaults of each algorithm's hyper-parameters, by id.
        cited: Keys of all works to cite.
        references: Works by key, as far as the bibliography has them.
        bibtex: BibTeX by key, as far as the bibliography has it.
        tags: Tags of all runs in MLflow.
        content: The experiment file at this size.
        cards: The cards that rest on the experiment, as JSON types.
        left_out: Names of the figures that are not drawn, with the data sets that each of them lacks on this machine.
    """

    name: str
    size: str
    file: str
    title: str
    source: str
    description: str
    notes: list[str]
    paper: Reference
    figures: dict[str, str]
    setup: list[tuple[str, str]]
    parameters: list[Parameters]
    algorithms: dict[str, str]
    grid: list[str]
    axes: list[str]
    tune: list[str]
    tuned: list[str]
    select: Select
    score: str
    seeds: list[int]
    defaults: dict[str, dict[str, Any]]
    cited: list[str]
    references: dict[str, Reference]
    bibtex: dict[str, str]
    tags: dict[str, str]
    content: dict[str, Any]
    cards: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    left_out: dict[str, list[str]] = dataclasses.field(default_factory=dict)

    @property
    def missing_data(self) -> list[str]:
        """Names of the data sets that the figures that are left out need."""
        return list(dict.fromkeys(data for lacking in self.left_out.values() for data in lacking))

    @property
    def fetch_command(self) -> str:
        """Command that fetches the data of the figures that are left out."""
        return f"fedatlas data fetch {' '.join(self.missing_data)}"

    @property
    def tuning(self) -> str:
        """Sentences on which algorithms are tuned, and on which seeds."""
        names = [self.algorithms[id] for id in self.tuned]
        fixed = [name for id, name in self.algorithms.items() if id not in self.tuned]
        if not names:
            return "Nothing is tuned: all hyper-parameters have the values of the experiment's file."
        seeds = ", ".join(map(str, self.select.seeds))
        on = f"on the tuning seed{'s' if len(self.select.seeds) > 1 else ''} {seeds}"
        if not fixed:
            return f"All algorithms are tuned, {on}."
        return f"Tuned, {on}: {'; '.join(names)}. With the values of the experiment's file: {'; '.join(fixed)}."

    def plain(self) -> dict[str, Any]:
        """Return the facts as JSON types."""
        return dataclasses.asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "ExperimentFacts":
        """Return the facts from the JSON types of ``plain``."""
        fields = {
            "paper": restore(Reference, plain["paper"]),
            "parameters": [
                restore(Parameters, {**table, "rows": list(map(tuple, table["rows"]))}) for table in plain["parameters"]
            ],
            "setup": list(map(tuple, plain["setup"])),
            "select": Select(**plain["select"]),
            "references": {key: restore(Reference, work) for key, work in plain["references"].items()},
        }
        return restore(cls, {**plain, **fields})

    def write(self, path: str | Path) -> None:
        """Write the facts as JSON; a file with the same content keeps its time."""
        update_text(path, json.dumps(self.plain(), indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def read(cls, path: str | Path) -> "ExperimentFacts":
        """Return the facts in a file.

        Raises:
            UserError: The file does not exist or does not hold facts.
        """
        content = read_json(path)
        try:
            return cls.of(content)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UserError(f"{path} does not describe an experiment ({error})") from None


def field_defaults(cls: type) -> dict[str, Any]:
    """Return the defaults of a dataclass's optional fields."""
    defaults = {}
    for field in dataclasses.fields(cls):
        if field.default_factory is not dataclasses.MISSING:
            defaults[field.name] = field.default_factory()
        elif field.default is not dataclasses.MISSING:
            defaults[field.name] = field.default
    return defaults
