"""What report and MLflow show of an experiment besides its numbers, as a record that lies in a file."""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Select
from fedatlas.io.files import atomic
from fedatlas.registry.bibliography import Reference

RECORD_FILE = "about.json"  # beside an experiment's results
PROBLEM_CONSTANT = "the problem's"  # the value of a hyper-parameter that is one of the problem's constants


@dataclass(frozen=True)
class Parameters:
    """The hyper-parameters of an algorithm. algorithm: its name for people. rows: (name, meaning, value) of each."""

    algorithm: str
    rows: list[list[str]]


@dataclass(frozen=True)
class ExperimentRecord:
    """What is known of an experiment before any of its runs.

    name, size, file, title, source, description, notes: of the experiment file. paper: that it re-runs. figures:
    captions by name. setup: (what, text) lines. parameters: tables of hyper-parameters. algorithms: names for people by
    id. grid: axes of which every combination has run files of its own. axes: all axes. tune: tuned hyper-parameters.
    score: what they are tuned by, such as ``best suboptimality``. defaults: of each algorithm's hyper-parameters, by
    id. cited: keys of all that is to be cited; references and bibtex hold those that the bibliography has. tags: of all
    runs in MLflow. content: the experiment file at this size.
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
    setup: list[list[str]]
    parameters: list[Parameters]
    algorithms: dict[str, str]
    grid: list[str]
    axes: list[str]
    tune: list[str]
    select: Select
    score: str
    seeds: list[int]
    defaults: dict[str, dict[str, Any]]
    cited: list[str]
    references: dict[str, Reference]
    bibtex: dict[str, str]
    tags: dict[str, str]
    content: dict[str, Any]

    def plain(self) -> dict[str, Any]:
        """The record as JSON types."""
        return dataclasses.asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "ExperimentRecord":
        """The record that ``plain`` gave."""
        made = {
            "paper": Reference(**plain["paper"]),
            "parameters": [Parameters(**one) for one in plain["parameters"]],
            "select": Select(**plain["select"]),
            "references": {key: Reference(**one) for key, one in plain["references"].items()},
        }
        return cls(**{**plain, **made})

    def write(self, path: str | Path) -> None:
        """Write the record as JSON. A file that holds it already is left as it is, with its time."""
        text = json.dumps(self.plain(), indent=1, ensure_ascii=False) + "\n"
        path = Path(path)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            with atomic(path) as temporary:
                temporary.write_text(text, encoding="utf-8")

    @classmethod
    def read(cls, path: str | Path) -> "ExperimentRecord":
        """The record in a file that ``write`` made. Raises UserError if it is not one."""
        try:
            return cls.of(json.loads(Path(path).read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise UserError(f"{path} does not exist") from None
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise UserError(f"{path} does not describe an experiment ({error})") from None


def field_defaults(cls: type) -> dict[str, Any]:
    """The fields of a dataclass that need not be given, with their defaults."""
    found = {}
    for field in dataclasses.fields(cls):
        if field.default_factory is not dataclasses.MISSING:
            found[field.name] = field.default_factory()
        elif field.default is not dataclasses.MISSING:
            found[field.name] = field.default
    return found
