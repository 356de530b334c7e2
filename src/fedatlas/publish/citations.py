"""Citations of algorithms, experiments and data sets: keys of the bibliography."""

from collections.abc import Iterable

from fedatlas.data import sources
from fedatlas.data.catalogue import SOURCES
from fedatlas.errors import lookup
from fedatlas.experiments.specification import Experiment
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.registry.bibliography import bibtex, entries

PAPERS = ("yuan2020", "xiang2024", "jiang2024", "mukherjee2024", "sun2023")


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
    known = (name if name in keys else ALGORITHMS.resolve(name) for name in list(names) or PAPERS)
    return bibtex(key for name in known for key in lookup("name", name, keys))


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
