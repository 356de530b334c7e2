"""Collecting what report and MLflow show of an experiment besides its numbers.

Options of algorithms, the catalogue of data and the bibliography are asked here, when the workflow builds its graph;
its jobs read the record.
"""

import json
from collections.abc import Iterator
from typing import Any

from fedatlas.experiments import expansion, labels
from fedatlas.experiments.cells import Select, has_choice
from fedatlas.experiments.experiment_view import AlgorithmView, ExperimentView
from fedatlas.experiments.specification import Experiment
from fedatlas.federation import algorithms
from fedatlas.publish.citations import citation_keys
from fedatlas.publish.report.record import PROBLEM_CONSTANT, ExperimentRecord, Parameters
from fedatlas.registry.bibliography import entries, reference
from fedatlas.registry.options import Option


def build_record(experiment: Experiment, view: ExperimentView) -> ExperimentRecord:
    """The ExperimentRecord of an experiment.

    view: of the same experiment, which knows the names of its algorithms. Raises UserError if an algorithm or the paper
    is unknown.
    """
    cited = citation_keys(experiment)
    known = [key for key in cited if key in entries()]
    return ExperimentRecord(
        name=experiment.name,
        size=experiment.size,
        file=experiment.file,
        title=experiment.title,
        source=experiment.source,
        description=experiment.description,
        notes=list(experiment.notes),
        paper=reference(experiment.paper),
        figures={name: figure.caption for name, figure in experiment.figures.items()},
        setup=[[what, text] for what, text in setup(experiment, view) if text],
        parameters=[_parameters(experiment, id, view.algorithms[id]) for id in experiment.algorithms],
        algorithms={id: shown.name for id, shown in view.algorithms.items()},
        grid=list(experiment.grid),
        axes=list(view.axes),
        tune=list(view.tune),
        select=experiment.select,
        score=f"{experiment.select.statistic} {labels.words(experiment.select.metric)}",
        seeds=list(experiment.seeds),
        defaults={id: _defaults(experiment.algorithm(id)) for id in experiment.algorithms},
        cited=cited,
        references={key: reference(key) for key in known},
        bibtex={key: entries()[key].text for key in known},
        tags=_tags(experiment),
        content=json.loads(json.dumps(experiment.plain())),
    )


def setup(experiment: Experiment, view: ExperimentView) -> Iterator[tuple[str, str]]:
    """How an experiment is run at its size, as (what, text) lines; a text may be empty."""
    axes = experiment.axes
    yield "Problem", _list({key: value for key, value in experiment.problem.items() if f"problem.{key}" not in axes})
    yield "Setting", _list({key: value for key, value in experiment.setting.items() if key not in axes})
    yield "Varied", "; ".join(f"{_name(axis)} in {_values(values)}" for axis, values in axes.items())
    if experiment.trials:
        yield "Tuned", f"{experiment.trials} quasi-random trials of each algorithm's search space"
    yield "Tuned", "; ".join(f"{name} in {_values(values)}" for name, values in experiment.tune.items() if values)
    if any(has_choice(shown.tune) for shown in view.algorithms.values()):
        yield "Tuning", _tuning(experiment.select)
    yield "Scores", f"{experiment.select.values} of {labels.words(experiment.select.metric)}"
    yield "Seeds", _values(experiment.seeds)


def _tuning(select: Select) -> str:
    """How tuned values are chosen, for people."""
    ends = f"; the ends of axes are moved up to {_times(select.extend)}" if select.extend else ""
    return f"by {labels.words(select.tuning_metric)} on the seeds {_values(select.seeds)}{ends}"


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


def _parameters(experiment: Experiment, id: str, shown: AlgorithmView) -> Parameters:
    tuned, fixed = shown.tune, experiment.algorithms[id].set
    space = expansion.tuned_values(experiment, id)[1] or {}
    rows = []
    for parameter, one in algorithms.get(experiment.algorithm(id)).options().items():
        if parameter in tuned:
            ends = space.get(parameter)
            value = f"tuned: {' to '.join(map(labels.text, ends)) if ends else _values(tuned[parameter])}"
        elif f"parameters.{parameter}" in experiment.axes:
            value = "varied"
        else:
            value = labels.text(fixed[parameter] if parameter in fixed else _default(one))
        rows.append([parameter, one.doc, value])
    return Parameters(shown.name, rows)


def _defaults(algorithm: str) -> dict[str, Any]:
    """The hyper-parameters of an algorithm that need not be given, and their defaults."""
    known = algorithms.get(algorithm).options()
    return {name: _default(one) for name, one in known.items() if not one.required}


def _default(one: Option) -> Any:
    if one.constant:
        return PROBLEM_CONSTANT
    return one.default() if callable(one.default) else one.default


def _tags(experiment: Experiment) -> dict[str, str]:
    """Tags that all runs of the experiment have in MLflow."""
    return {
        "paper": experiment.paper,
        "size": experiment.size,
        "problem": experiment.problem["kind"],
        "data": experiment.problem.get("data", "synthetic"),
        "mlflow.source.name": experiment.file,
        "mlflow.source.type": "LOCAL",
    }
