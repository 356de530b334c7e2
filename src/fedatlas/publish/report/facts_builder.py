"""Building the facts of an experiment when the workflow builds its graph, and citations of what the atlas holds.

Options of algorithms, the catalogue of data and the bibliography are read here; jobs read only the facts.
"""

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from fedatlas.data import sources
from fedatlas.data.catalogue import SOURCES
from fedatlas.data.sources import display_name
from fedatlas.errors import lookup
from fedatlas.experiments import labels
from fedatlas.experiments.cells import Select, has_choice
from fedatlas.experiments.specification import Experiment
from fedatlas.experiments.view import ExperimentView
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.publish.report.cards import Card, card_experiments
from fedatlas.publish.report.facts import Facts
from fedatlas.registry.bibliography import bibtex, entries, entry, reference

# keys of an experiment's file that its page shows
SETUP = ("problem", "setting", "grid", "within", "trials", "tuning", "tune", "select", "seeds")
# keys of what is cited where nothing is named
PAPERS = ("yuan2020", "xiang2024", "jiang2024", "mukherjee2024", "sun2023")


def build_facts(experiment: Experiment, view: ExperimentView, cards: Sequence[Card] = ()) -> Facts:
    """Build the facts of an experiment.

    Args:
        experiment: The experiment.
        view: View of the same experiment, which has the names of its algorithms.
        cards: Cards of the gallery, of which those that rest on the experiment are taken.

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
        "cards": [card for card in cards if experiment.name in card_experiments(card)],
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
    value = _with_names(value)
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=math.inf)
    return text.removesuffix("...\n").strip()


def _with_names(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_names(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_with_names, value))
    return display_name(value) if isinstance(value, str) else value


def citation_keys(experiment: Experiment) -> list[str]:
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
    key = getattr(ALGORITHMS.get(name), "cite", None)
    return [key] if key else []


def cite(names: Iterable[str] = (), experiments: Iterable[Experiment] = ()) -> str:
    """Return the BibTeX to cite for names; without names, that of the five papers.

    Args:
        names: Names of algorithms, data sets, references and experiments.
        experiments: Experiments that may be named; one stands for its paper, its algorithms and its data.

    Raises:
        UserError: A name is unknown; the sentence suggests a similar one.
    """
    keys = {key: [key] for key in entries()}
    keys |= {name: [SOURCES.get(name).citation] for name in SOURCES.names()}
    keys |= {name: _algorithm_keys(name) for name in ALGORITHMS.names()}
    keys |= {experiment.name: citation_keys(experiment) for experiment in experiments}
    identifiers = (name if name in keys else ALGORITHMS.resolve(name) for name in list(names) or PAPERS)
    return bibtex(key for name in identifiers for key in lookup("name", name, keys))
