"""The configuration of a study, config/config.yaml, and the files of experiments that it can name.

Both are validated before any job: a wrong name is an error, with a guess. Options of figures and checks declare the
things that their values name (``names`` of `fedatlas.registry.options.Option`); these names are looked up in the
experiment.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError, did_you_mean, lookup, name_place, nearest
from fedatlas.experiments import expansion, experiment_file
from fedatlas.experiments.cells import Axes, Cell, Run
from fedatlas.experiments.labels import TIMES
from fedatlas.experiments.runs import create_setting, runs
from fedatlas.experiments.specification import Experiment
from fedatlas.experiments.validation import reported_metrics
from fedatlas.experiments.values import are_numbers, match_values
from fedatlas.experiments.view import EXTREMES, select_points
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.partitions import is_split
from fedatlas.io.files import read_yaml
from fedatlas.registry.bibliography import entry, reference
from fedatlas.registry.extensions import describe
from fedatlas.registry.kinds import Kind
from fedatlas.results.claims import CHECKS, Check
from fedatlas.results.costs import CostOptions
from fedatlas.results.figures import FIGURES, Figure
from fedatlas.theory.closed_forms import LIMITS
from fedatlas.theory.fedawe import STATEMENTS
from fedatlas.theory.theorems import THEOREMS
from fedatlas.workflow import inputs

CONFIG = Path("config/config.yaml")
FOLDER = "config/experiments"  # of a study, and of the atlas
NAME = r"\w[\w-]*"  # of an experiment; the wildcard of the workflow holds the same letters


class ExperimentFiles:
    """Files of experiments by name.

    Attributes:
        own: Paths of the study's experiments.
        comparisons: Paths of the experiments that `fedatlas compare` wrote.
        paths: Paths of all experiments that the study can name.
        shipped: Folder of the atlas's experiments, or None if those are the study's.
    """

    def __init__(self, root: Path, folder: str, shipped: Path, comparisons: Path) -> None:
        """Find the files.

        Args:
            root: Folder of the study.
            folder: Folder of its experiments, relative to root.
            shipped: Folder of the atlas's experiments. A name that both have means the study's file.
            comparisons: Folder of the experiments that `fedatlas compare` wrote.
        """
        path = root / folder
        is_own = shipped.exists() and path.exists() and path.samefile(shipped)
        self.root, self.shipped = root, None if is_own else shipped
        self.own, self.comparisons = _find_files(path), _find_files(comparisons)
        self.paths = {**self.own, **_find_files(shipped), **self.comparisons, **self.own}
        self._folders = [*([self.shipped] if self.shipped else []), path]

    def load(self, name: str, size: str) -> Experiment:
        """Load an experiment at a size.

        Its ``file`` is relative to the folder that holds ``config/``, so that no result depends on where it lies.

        Raises:
            UserError: The file is wrong; the message names file and key, see `experiment_file.load`.
        """
        is_here = name in self.own or name in self.comparisons or self.shipped is None
        root = self.root if is_here or self.shipped is None else self.shipped.parents[1]
        return experiment_file.load(self.paths[name], size, root, self._folders)

    def document(self, name: str) -> dict[str, Any]:
        """Return the content of an experiment's file, laid over the file that it extends; empty if it is no mapping."""
        content = experiment_file.document(self.paths[name], self._folders)
        return content if isinstance(content, dict) else {}

    def bases(self, name: str) -> list[str]:
        """Return the names of the experiments that an experiment extends, the nearest first."""
        names = [name]
        while (base := experiment_file.extended(self.paths[names[-1]])) in self.paths and base not in names:
            names.append(base)
        return names[1:]


def _find_files(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.glob("[!.]*.yaml"))}


def shipped() -> Path:
    """Return the folder that holds ``workflow/``, ``config/experiments/`` and ``record/`` of the atlas.

    In a wheel it lies in the package; in a checkout it is the root of the repository.
    """
    package = Path(__file__).parents[1]
    inside = package / "shipped"
    return inside if inside.is_dir() else package.parents[1]


SNAKEFILE = str(shipped() / "workflow/Snakefile")


def complete(config: Any) -> dict[str, Any]:
    """Return a configuration with the default of each missing key.

    Args:
        config: Keys and values of a ``config.yaml``, or None for an empty file. It is not changed.

    Raises:
        UserError: A key is unknown, or its value has another type.
    """
    from jsonschema import Draft202012Validator

    schema = read_yaml(shipped() / "workflow/schemas/config.schema.yaml")
    keys, values = schema["properties"], {} if config is None else config
    if not isinstance(values, dict):
        raise UserError(f"{CONFIG} holds {values!r:.60}; it must hold a mapping of keys to values")
    if unknown := next((key for key in values if key not in keys), None):
        raise UserError(f"{CONFIG}: unknown key {unknown!r}{nearest(unknown, keys)}")
    if error := next(Draft202012Validator(schema).iter_errors(values), None):
        key = ".".join(map(str, error.absolute_path))
        raise UserError(f"{CONFIG}: {key}: {error.message}")
    return {key: entry["default"] for key, entry in keys.items() if "default" in entry} | values


def validate(experiment: Experiment, cells: Sequence[Cell] | None = None) -> None:
    """Validate the paper, figures and claims of an experiment.

    Args:
        experiment: The experiment.
        cells: Its cells; by default they are expanded.

    Raises:
        UserError: The message names file and key.
    """
    cells = expansion.cells(experiment) if cells is None else cells
    metrics = list(dict.fromkeys(name for cell in cells for name in reported_metrics(cell.spec)))
    points = _points(cells)
    with name_place(experiment.where):
        tuning = {id: expansion.tuned_values(experiment, id)[0] for id in experiment.algorithms}

        def validate_options(kind: Figure | Check) -> None:
            _validate_names(kind, experiment, metrics, tuning)
            _validate_runs(kind, experiment, points)

        with name_place("paper"):
            reference(experiment.paper)
        for algorithm in map(ALGORITHMS.get, map(experiment.algorithm, experiment.algorithms)):
            if key := getattr(algorithm, "cite", None):  # an algorithm of an extension may have none
                with name_place(describe(f"algorithm {algorithm.name}", algorithm.__module__)):
                    entry(key)
        for name in experiment.figures:
            with name_place(f"figures.{name}"):
                figure = FIGURES.build(experiment.figure(name))
                validate_options(figure)
                for axis in figure.measures():
                    if not are_numbers(experiment.axes.get(axis, [])):
                        raise UserError(f"the values of {axis} must be numbers")
                partitions = [experiment.problem.get("partition"), *experiment.axes.get("problem.partition", [])]
                if "partitions" in figure.inputs and not any(map(is_split, partitions)):
                    raise UserError("kind: the experiment has no partition to draw: its data are not split")
                if figure.draws_results:
                    _validate_axes(figure, experiment)
                inputs.specify(figure, cells)
        for name, claim in experiment.claims.items():
            with name_place(f"claims.{name}"):
                for check in map(CHECKS.build, claim.checks):
                    if claim.tested_at(experiment.size):  # elsewhere its axes and algorithms are those of other sizes
                        validate_options(check)


def _validate_names(kind: Kind, experiment: Experiment, reported: list[str], tuning: Mapping[str, Axes]) -> None:
    """Look up the names in the options of a figure or check.

    Args:
        kind: The figure or check.
        experiment: The experiment.
        reported: Names of the metrics of the runs.
        tuning: Tuned hyper-parameters and their values, by id of an algorithm.
    """
    axes = {axis: axis for axis in experiment.axes}
    tuned = {name: name for id in _algorithms(kind, experiment) for name in tuning[id]}
    # all algorithms share a column of the table
    measured = {name: name for name in tuned if all(are_numbers(axes.get(name, [])) for axes in tuning.values())}
    metrics = dict.fromkeys(reported)
    reports = [ALGORITHMS.get(experiment.algorithm(id)).reports for id in _algorithms(kind, experiment)]
    common = dict.fromkeys(name for name in reports[0] if all(name in names for names in reports)) if reports else {}
    namespaces: dict[str, tuple[str, Mapping[str, Any]]] = {
        "metric": ("metric", metrics),
        "metric or tuned numbers": ("metric or hyper-parameter tuned over numbers", {**metrics, **measured}),
        "axis": ("axis of grid or within", axes),
        "axis or tuned": ("axis or tuned hyper-parameter", {**axes, **tuned}),
        "axis of numbers": ("axis of numbers", {axis: axis for axis in axes if are_numbers(experiment.axes[axis])}),
        "cost or time": ("cost", {**TIMES, **common}),
        "tuned": ("tuned hyper-parameter", tuned),
        "tuned numbers": ("hyper-parameter tuned over numbers", measured),
        "algorithm": ("algorithm of the experiment", experiment.algorithms),
        "algorithms": ("algorithm of the experiment", experiment.algorithms),
        "limit": ("limit", LIMITS),
        "theorem": ("theorem", THEOREMS),
        "theorem or statement": ("theorem", THEOREMS | STATEMENTS),
    }
    for name, option in kind.options().items():
        value = getattr(kind, name)
        if value is None or option.names is None:
            continue
        if option.names == "where":
            _validate_where(name, value, experiment.axes)
        elif option.names in namespaces:
            noun, names = namespaces[option.names]
            with name_place(name):
                for entry in value if isinstance(value, (list, tuple, dict)) else [value]:
                    lookup(noun, str(entry) if noun == "theorem" else entry, names)


def _algorithms(kind: Kind, experiment: Experiment) -> list[str]:
    """Return the ids of the algorithms of a figure or check."""
    algorithm, several = getattr(kind, "algorithm", None), getattr(kind, "algorithms", None)
    ids = [algorithm] if algorithm is not None else several or list(experiment.algorithms)
    return [id for id in ids if id in experiment.algorithms]


def _points(cells: Iterable[Cell]) -> list[tuple[str, dict[str, Any], Run]]:
    """Return all points of the cells' axes, each with the id of its algorithm and one of its runs."""
    points = []
    for cell in cells:
        first = replace(cell.spec, seeds=cell.spec.seeds[:1], tune={k: v[:1] for k, v in cell.spec.tune.items()})
        points += [(cell.id, {**cell.point, **run.within}, run) for run in runs(first)]
    return points


def _validate_runs(
    kind: Figure | Check, experiment: Experiment, points: Iterable[tuple[str, dict[str, Any], Run]]
) -> None:
    """Validate the demands of a figure or check on a run of each algorithm at each point of the axes that it keeps."""
    ids = set(_algorithms(kind, experiment))
    points = [point for point in points if point[0] in ids]
    selection = [
        points[index] for index in select_points([axes for _, axes, _ in points], getattr(kind, "where", None))
    ]
    kind.fits((id, run) for id, _, run in selection)
    if isinstance(kind, CostOptions) and kind.simulated:
        for _, _, run in selection:
            kind.model_of(create_setting(run).driver_kind)


def _validate_where(key: str, where: Mapping[str, Any], axes: Mapping[str, list[Any]]) -> None:
    for axis, value in where.items():
        if axis not in axes:
            raise UserError(f"{key}: {axis!r} is not an axis of grid or within{did_you_mean(axis, axes)}")
        if value in EXTREMES and not are_numbers(axes[axis]) and value not in axes[axis]:
            raise UserError(f"{key}.{axis}: {value} needs an axis of numbers")


def _validate_axes(figure: Figure, experiment: Experiment) -> None:
    """Check that one value remains of each axis over which the figure does not spread."""
    where, spread = getattr(figure, "where", None) or {}, figure.spreads()
    for axis, values in experiment.axes.items():
        rest = _select(where[axis], values) if axis in where else values
        if not rest:
            raise UserError(f"where.{axis}: no run has the value {where[axis]!r}; there are {values}")
        if len(rest) > 1 and axis not in spread and not figure.every_axis:
            raise UserError(f"where: {axis} has {len(rest)} values: keep one of {rest}, or make it the panel")


def _select(value: Any, values: list[Any]) -> list[Any]:
    if value in EXTREMES and are_numbers(values):
        return values[:1]
    return [item for item, is_match in zip(values, match_values(values, value), strict=True) if is_match]
