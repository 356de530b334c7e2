"""What to cite for algorithms, experiments and data sets: keys of the bibliography."""

from collections.abc import Iterable

from fedatlas.data import sources
from fedatlas.errors import lookup
from fedatlas.experiments.specification import Experiment
from fedatlas.federation import algorithms
from fedatlas.registry.bibliography import bibtex, entries

PAPERS = ("yuan2020", "xiang2024", "jiang2024", "mukherjee2024", "sun2023")


def cite(names: Iterable[str] = (), experiments: Iterable[Experiment] = ()) -> str:
    """BibTeX of what is to be cited for names; without names, of the five papers.

    names: of algorithms, data sets, references and experiments. experiments: those that may be named; one stands for
    its paper, its algorithms and its data. Raises UserError, with a guess, on any other name.
    """
    known = {key: [key] for key in entries()}
    known |= {name: [sources.info(name).citation] for name in sources.names()}
    known |= {name: _of_algorithm(name) for name in algorithms.names()}
    known |= {experiment.name: citation_keys(experiment) for experiment in experiments}
    return bibtex(key for name in list(names) or PAPERS for key in lookup("name", name, known))


def citation_keys(experiment: Experiment) -> list[str]:
    """Keys of an experiment's paper, its algorithms and its data, each once."""
    found = [experiment.paper]
    for id in experiment.algorithms:
        found += _of_algorithm(experiment.algorithm(id))
    found += [key for name in _data(experiment) if (key := sources.info(name).citation)]  # custom data may have none
    return list(dict.fromkeys(found))


def _data(experiment: Experiment) -> list[str]:
    """The data sets that an experiment uses. Values of an axis stand for the problem's own."""
    names = [experiment.axes.get(f"problem.{key}", [experiment.problem.get(key)]) for key in ("data", "test")]
    return [name for values in names for name in values if name]


def _of_algorithm(name: str) -> list[str]:
    """The key that an algorithm declares, if it declares one."""
    key = getattr(algorithms.get(name), "cite", None)
    return [key] if key else []
