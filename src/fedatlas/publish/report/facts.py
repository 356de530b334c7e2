"""What pages and MLflow read of an experiment besides its numbers: its facts, and the verdicts on its claims.

The plan builds the facts from the experiment's file, the options of algorithms, the catalogue of data and the
bibliography, and writes them to about.json. Jobs read that, and the verdicts in claims.csv.
"""

import csv
import dataclasses
import io
import json
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.data import sources
from fedatlas.data.catalogue import SOURCES
from fedatlas.data.sources import display_name
from fedatlas.errors import UserError, lookup
from fedatlas.experiments import SIZES, labels
from fedatlas.experiments.cells import Select, has_choice
from fedatlas.io.files import read_json, read_text
from fedatlas.registry.bibliography import bibtex, entries, entry, reference
from fedatlas.results.claims.verdicts import (
    COLUMNS,
    EQUAL,
    HELD,
    MORE,
    NOT_HELD,
    NOT_TESTED,
    UNDECIDED,
    UNTESTED,
    VACUOUS,
)
from fedatlas.results.comparing.intervals import LEVEL, needed_seeds

if TYPE_CHECKING:
    import pandas as pd

    from fedatlas.experiments.specification import Experiment
    from fedatlas.experiments.view import ExperimentView
    from fedatlas.publish.report.cards import Card


FACTS_FILE = "about.json"  # in the folder of an experiment's results
KEYS = frozenset({"name", "size", "title", "paper", "figures", "algorithms", "axes", "select", "content", "tuning"})
# class in report.css and sign of each verdict that claims.csv may hold
VERDICTS = {
    HELD: ("held", "✓"),
    MORE: ("held", "✓✓"),
    EQUAL: ("undecided", "="),
    UNDECIDED: ("undecided", "?"),
    NOT_HELD: ("not-held", "✗"),
    VACUOUS: ("not-tested", "∅"),
    UNTESTED: ("not-tested", "–"),
    NOT_TESTED: ("not-tested", "–"),
}

Facts = dict[str, Any]  # JSON types; `build_facts` names the keys


def read_facts(path: str | Path) -> Facts:
    """Return the facts in a file.

    Raises:
        UserError: The file does not exist or does not hold facts.
    """
    content = read_json(path)
    if not isinstance(content, dict) or (missing := sorted(KEYS - content.keys())):
        lack = f" (it lacks {', '.join(missing)})" if isinstance(content, dict) else ""
        raise UserError(f"{path} does not describe an experiment{lack}; `snakemake` makes it again")
    return content


def read_verdicts(path: Path) -> list[dict[str, str]]:
    """Return the rows of a claims.csv. Raises UserError if the file is not one."""
    lines = csv.DictReader(io.StringIO(read_text(path), newline=""))
    try:
        rows = list(lines)
    except csv.Error as error:
        raise UserError(f"{path} is not CSV: {error}") from None
    for row in rows:
        row.setdefault("p", "")
        texts = all(isinstance(row.get(name), str) for name in COLUMNS)
        if not texts or row["verdict"] not in VERDICTS or row["size"] not in SIZES:
            raise UserError(f"{path} holds no claims of fedatlas: it lacks columns or cells, or has another verdict")
    return rows


def to_frame(rows: list[dict[str, str]]) -> "pd.DataFrame":
    """Return rows of claims.csv as text; without rows the DataFrame has only column names."""
    import pandas as pd

    return pd.DataFrame(rows, columns=None if rows else list(COLUMNS))


def rests_on_normal_noise(claim: Mapping[str, str]) -> bool:
    """Return whether a verdict rests on Student's interval alone, with fewer seeds than an exact one needs.

    Args:
        claim: A row of claims.csv as text. Exact and deterministic claims have no p-value.
    """
    decided = claim["verdict"] in (HELD, MORE, EQUAL, NOT_HELD)
    return bool(decided and claim["p"] and claim["seeds"]) and float(claim["seeds"]) < needed_seeds(LEVEL)


def seeds_text(claim: Mapping[str, str]) -> str:
    """Return the number of seeds of a claim, with a t where its verdict rests on normal noise."""
    return f"{claim['seeds']} (t)" if rests_on_normal_noise(claim) else claim["seeds"]


def add_q_values(claims: Iterable[dict[str, str]], family: Callable[[Mapping[str, str]], Hashable]) -> None:
    """Set the key q of claims, the q-value of Benjamini & Hochberg (1995); empty where no test gives a p-value.

    If all claims with a q-value of at most 0.05 are decided, at most 5 % of these decisions are expected to be wrong.
    The rule holds for independent tests and for tests that are positively dependent.

    Args:
        claims: Rows of claims.csv as text.
        family: Function of a claim that returns its family, of whose decisions at most a share is expected to be wrong.
    """
    from scipy.stats import false_discovery_control

    families: dict[Hashable, list[dict[str, str]]] = {}
    for row in claims:
        families.setdefault(family(row), []).append(row)
    for rows in families.values():
        tested = [row for row in rows if row["p"]]
        for row in rows:
            row["q"] = ""
        for row, q in zip(tested, false_discovery_control([float(row["p"]) for row in tested]), strict=True):
            row["q"] = f"{q:.3g}"


# keys of an experiment's file that its page shows
SETUP = ("problem", "setting", "grid", "within", "trials", "tuning", "tune", "select", "seeds")
# keys of what is cited where nothing is named
PAPERS = ("yuan2020", "xiang2024", "jiang2024", "mukherjee2024", "sun2023")


def build_facts(experiment: "Experiment", view: "ExperimentView", cards: "Sequence[Card]" = ()) -> Facts:
    """Build the facts of an experiment.

    Args:
        experiment: The experiment.
        view: View of the same experiment, which has the names of its algorithms.
        cards: Cards of the gallery that rest on the experiment.

    Returns:
        What the file says (``name``, ``size``, ``file``, ``title``, ``source``, ``description``, ``notes``, ``axes``,
        ``grid``, of which each combination has a run file, ``tune``, ``select``, ``seeds``, and all of it at this size
        as ``content``); ``paper``, ``references`` and ``bibtex``; captions of ``figures``; ``setup``, pairs of a key
        of the file and a text; names of ``algorithms``; words for ``score`` and ``tuning``; ``tags`` of all runs in
        MLflow; ``cards``.

    Raises:
        UserError: An algorithm, the paper or another citation is unknown.
    """
    content = json.loads(json.dumps(dataclasses.asdict(experiment)))
    paper, cited = reference(experiment.paper), citation_keys(experiment)
    tuned = [id for id, algorithm in view.algorithms.items() if has_choice(algorithm.tune)]
    names = {id: algorithm.name for id, algorithm in view.algorithms.items()}
    return {
        **{key: getattr(experiment, key) for key in ("name", "size", "file", "title", "source", "description")},
        "notes": list(experiment.notes),
        "paper": dataclasses.asdict(paper),
        "figures": {name: figure["caption"] for name, figure in experiment.figures.items()},
        "setup": [(key, _in_yaml(content[key])) for key in SETUP if content[key]],
        "algorithms": names,
        "grid": list(experiment.grid),
        "axes": list(view.axes),
        "tune": list(view.tune),
        "tuning": _tuned_algorithms(experiment.select, names, tuned),
        "select": dataclasses.asdict(experiment.select),
        "score": f"{experiment.select.statistic} {labels.words(experiment.select.metric)}",
        "seeds": experiment.first_seeds,
        "references": {key: dataclasses.asdict(reference(key)) for key in cited},
        "bibtex": {key: entry(key).raw for key in cited},
        "tags": {
            "size": experiment.size,
            "problem": experiment.problem["kind"],
            "data": experiment.problem.get("data", "synthetic"),
            "paper": paper.short,
            "source": experiment.source,
        },
        "content": content,
        "cards": list(cards),
    }


def _tuned_algorithms(select: Select, names: Mapping[str, str], tuned: Sequence[str]) -> str:
    """Return sentences on which algorithms are tuned, and on which seeds."""
    fixed = [name for id, name in names.items() if id not in tuned]
    if not tuned:
        return "Nothing is tuned: all hyper-parameters have the values of the experiment's file."
    on = f"on the tuning seed{'s' if len(select.seeds) > 1 else ''} {', '.join(map(str, select.seeds))}"
    if not fixed:
        return f"All algorithms are tuned, {on}."
    chosen = "; ".join(names[id] for id in tuned)
    return f"Tuned, {on}: {chosen}. With the values of the experiment's file: {'; '.join(fixed)}."


def _in_yaml(value: Any) -> str:
    """Return a value of the file as YAML, with data of the user's own by the name of the file."""
    import yaml

    value = _with_names(value)
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=math.inf)
    return text.removesuffix("...\n").strip()


def _with_names(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_names(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_with_names, value))
    return display_name(value) if isinstance(value, str) else value


def citation_keys(experiment: "Experiment") -> list[str]:
    """Return the distinct keys of an experiment's paper, its algorithms and its data."""
    keys = [experiment.paper]
    for id in experiment.algorithms:
        keys += _algorithm_keys(experiment.algorithm(id))
    # values of an axis replace the problem's, and custom data may have no citation
    data = [experiment.axes.get(f"problem.{key}", [experiment.problem.get(key)]) for key in ("data", "test")]
    keys += [key for names in data for name in names if name and (key := sources.info(name).citation)]
    return list(dict.fromkeys(keys))


def _algorithm_keys(name: str) -> list[str]:
    """Return the key that an algorithm declares, if it declares one."""
    from fedatlas.federation.algorithms import ALGORITHMS

    key = getattr(ALGORITHMS.get(name), "cite", None)
    return [key] if key else []


def cite(names: Iterable[str] = (), experiments: "Iterable[Experiment]" = ()) -> str:
    """Return the BibTeX to cite for names; without names, that of the five papers.

    Args:
        names: Names of algorithms, data sets, references and experiments.
        experiments: Experiments that may be named; one stands for its paper, its algorithms and its data.

    Raises:
        UserError: A name is unknown; the sentence suggests a similar one.
    """
    from fedatlas.federation.algorithms import ALGORITHMS

    keys = {key: [key] for key in entries()}
    keys |= {name: [SOURCES.get(name).citation] for name in SOURCES.names()}
    keys |= {name: _algorithm_keys(name) for name in ALGORITHMS.names()}
    keys |= {experiment.name: citation_keys(experiment) for experiment in experiments}
    identifiers = (name if name in keys else ALGORITHMS.resolve(name) for name in list(names) or PAPERS)
    return bibtex(key for name in identifiers for key in lookup("name", name, keys))
