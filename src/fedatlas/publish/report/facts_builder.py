"""Building the facts of an experiment, when the workflow builds its graph.

Options of algorithms, the catalogue of data and the bibliography are read here; jobs read only the facts.
"""

import dataclasses
import json
from collections.abc import Iterator, Sequence
from typing import Any

from fedatlas.experiments import expansion, labels
from fedatlas.experiments.cells import Select, has_choice
from fedatlas.experiments.experiment_view import AlgorithmView, ExperimentView
from fedatlas.experiments.specification import Experiment
from fedatlas.experiments.tuning import TUNING_RULES
from fedatlas.experiments.tuning.space_rule import SpaceRule
from fedatlas.federation import algorithms
from fedatlas.publish.citations import citation_keys
from fedatlas.publish.report.cards import Card
from fedatlas.publish.report.facts import PROBLEM_CONSTANT, ExperimentFacts, Parameters
from fedatlas.registry.bibliography import entries, reference
from fedatlas.registry.options import Option


def build_facts(experiment: Experiment, view: ExperimentView, cards: Sequence[Card] = ()) -> ExperimentFacts:
    """Build the facts of an experiment.

    Args:
        experiment: The experiment.
        view: View of the same experiment, which has the names of its algorithms.
        cards: Cards of the gallery, of which those that rest on the experiment are taken.

    Raises:
        UserError: An algorithm or the paper is unknown.
    """
    cited = citation_keys(experiment)
    bibliography = entries()
    available = [key for key in cited if key in bibliography]
    return ExperimentFacts(
        name=experiment.name,
        size=experiment.size,
        file=experiment.file,
        title=experiment.title,
        source=experiment.source,
        description=experiment.description,
        notes=list(experiment.notes),
        paper=reference(experiment.paper),
        figures={name: figure.caption for name, figure in experiment.figures.items()},
        setup=[(key, text) for key, text in setup(experiment, view) if text],
        parameters=[_parameters(experiment, id, view.algorithms[id]) for id in experiment.algorithms],
        algorithms={id: algorithm.name for id, algorithm in view.algorithms.items()},
        grid=list(experiment.grid),
        axes=list(view.axes),
        tune=list(view.tune),
        tuned=[id for id, algorithm in view.algorithms.items() if has_choice(algorithm.tune)],
        select=experiment.select,
        score=f"{experiment.select.statistic} {labels.words(experiment.select.metric)}",
        seeds=experiment.first_seeds,
        defaults={id: _defaults(experiment.algorithm(id)) for id in experiment.algorithms},
        cited=cited,
        references={key: reference(key) for key in available},
        bibtex={key: bibliography[key].text for key in available},
        tags=_tags(experiment),
        content=json.loads(json.dumps(experiment.plain())),
        cards=[dataclasses.asdict(card) for card in cards if experiment.name in card.experiments],
    )


def setup(experiment: Experiment, view: ExperimentView) -> Iterator[tuple[str, str]]:
    """Yield pairs (key, text) of an experiment's setup at its size; a text may be empty."""
    axes = experiment.axes
    yield "Problem", _list({key: value for key, value in experiment.problem.items() if f"problem.{key}" not in axes})
    yield "Setting", _list({key: value for key, value in experiment.setting.items() if key not in axes})
    yield "Varied", "; ".join(f"{_name(axis)} in {_values(values)}" for axis, values in axes.items())
    if experiment.trials:
        rule = TUNING_RULES.build(experiment.tuning, "trials")
        each = f" for each hyper-parameter, then {rule.name.replace('_', ' ')}" if isinstance(rule, SpaceRule) else ""
        yield "Tuned", f"{experiment.trials} quasi-random trials of each algorithm's search space{each}"
    yield "Tuned", "; ".join(f"{name} in {_values(values)}" for name, values in experiment.tune.items() if values)
    if any(has_choice(algorithm.tune) for algorithm in view.algorithms.values()):
        yield "Tuning", _tuning(experiment.select)
    yield "Scores", f"{experiment.select.values} of {labels.words(experiment.select.metric)}"
    yield "Seeds", _values(experiment.first_seeds)
    if looks := experiment.looks:
        counts = ", then ".join(map(str, looks[1:]))
        yield "More seeds", f"{counts} in all where a comparison is undecided"


def _tuning(select: Select) -> str:
    """Return a sentence on the choice of tuned values."""
    ends = f"; the ends of axes are moved up to {_times(select.extend)}" if select.extend else ""
    several = len(select.seeds) > 1
    median = f", the median over the seeds {_values(select.seeds)} and confirmed on fresh seeds where runs are random"
    return f"by {labels.words(select.tuning_metric)}{median if several else f' on seed {select.seeds[0]}'}{ends}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _list(options: dict[str, Any]) -> str:
    kind = [labels.text(options["kind"])] if "kind" in options else []
    return "; ".join(
        [*kind, *(f"{_name(key)}: {labels.text(value, options)}" for key, value in options.items() if key != "kind")]
    )


def _name(key: str) -> str:
    stem = key.split(".")[-1]
    letter, words = labels.symbol(stem), stem.replace("_", " ")
    return f"{words} {letter}" if stem in labels.SYMBOLS else letter or words


def _values(values: list[Any]) -> str:
    separator = "; " if any(isinstance(value, (dict, list)) for value in values) else ", "
    return separator.join(map(labels.text, values))


def _parameters(experiment: Experiment, id: str, algorithm: AlgorithmView) -> Parameters:
    tuned, fixed = algorithm.tune, experiment.algorithms[id].set
    space = expansion.tuned_values(experiment, id)[1] or {}
    rows = []
    for parameter, option in algorithms.get(experiment.algorithm(id)).options().items():
        if parameter in tuned:
            ends = space.get(parameter)
            value = f"tuned: {' to '.join(map(labels.text, ends)) if ends else _values(tuned[parameter])}"
        elif f"parameters.{parameter}" in experiment.axes:
            value = "varied"
        else:
            value = labels.text(fixed[parameter] if parameter in fixed else _default(option))
        rows.append((parameter, option.doc, value))
    return Parameters(algorithm.name, rows)


def _defaults(algorithm: str) -> dict[str, Any]:
    """Return the defaults of an algorithm's optional hyper-parameters."""
    options = algorithms.get(algorithm).options()
    return {name: _default(option) for name, option in options.items() if not option.required}


def _default(option: Option) -> Any:
    if option.constant:
        return PROBLEM_CONSTANT
    if option.required:
        return option.advice  # which trials take where they tune others alone
    return option.default() if callable(option.default) else option.default


def _tags(experiment: Experiment) -> dict[str, str]:
    """Return the tags of all runs of an experiment in MLflow."""
    return {
        "size": experiment.size,
        "problem": experiment.problem["kind"],
        "data": experiment.problem.get("data", "synthetic"),
    }
