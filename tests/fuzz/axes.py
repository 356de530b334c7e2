"""Axes of values of all kinds, from the specification to run files, table, figure, claim and MLflow's runs."""

import json
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from fedatlas import UserError
from fedatlas.experiments import axis_values, expansion, experiment_file, result_files
from fedatlas.experiments.cells import Cell, Run
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.run import run_cell
from fedatlas.experiments.runs import runs
from fedatlas.experiments.selection import select_rows
from fedatlas.experiments.specification import Experiment
from fedatlas.experiments.tables import Layout, build
from fedatlas.publish.report.facts_builder import build_facts
from fedatlas.publish.report.tables import best_values, chosen_values
from fedatlas.publish.tracking.log import read_tables
from fedatlas.publish.tracking.records import setting_runs
from fedatlas.results.claims.judge import judge_claims
from fedatlas.results.claims.results import Results
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.drawing import draw
from fedatlas.workflow import inputs
from fedatlas.workflow.validation import validate
from tests.fuzz.targets import Target

BASE: dict[str, Any] = {
    "title": "Axes",
    "paper": "yuan2020",
    "source": "none",
    "problem": {"kind": "quadratic", "dim": 2, "mu": 1.0, "L": 4.0},
    "setting": {"clients": 2, "rounds": 2, "participation": {"kind": "stationary", "p": 0.5}},
    "select": {"metric": "loss", "statistic": "final", "goal": "min", "seeds": [1000]},
    "sizes": {"smoke": None},
}
RATES = [0.01, 1, 1e-300, 0.125, "1/L", "0.5/L", "0.01", "1e-2", "mu/2"]
VALUES: dict[str, list[Any]] = {
    "clients": [2, 3, 4],
    "local_steps": [1, 2, None],
    "rounds": [1, 2, 3],
    "batch": [None, 1, 2],
    "eval_rounds": [None, 1, 2],
    "state": ["memory", "disk"],
    "metrics": [None, [], ["distance"]],
    "participation": ["full", {"kind": "full"}, {"kind": "uniform", "count": 1}, {"kind": "stationary", "p": [0.5, 1]}],
    "participation.p": [0.5, 1, 1e-300, [0.5, 1], [1, 0.25], "0.5"],
    "schedule": ["constant", {"kind": "exponential", "decay": 0.5}, {"kind": "exponential", "decay": 1}],
    "problem.L": [4, 8.0, 2.5, 2**53 + 1],
    "problem.heterogeneity": [0, 1e-300, 1, 0.5],
    "problem.noise": [-0.0, 0.5, 1],
    "problem.diagonal": [True, False],
    "parameters.server_lr": [1, 0.5, "1/L", "1"],
}
WILD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(RATES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["kind", "p", "x"]), inner, max_size=2),
    max_leaves=4,
)


@st.composite
def _values(draw: Any, pool: list[Any]) -> list[Any]:
    """Values of an axis, of which one in ten is anything at all."""
    values: list[Any] = []
    for item in draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3)):
        value = draw(WILD) if draw(st.integers(0, 29)) == 29 else item
        if not any(value == other for other in values):
            values.append(value)
    return values


@st.composite
def specifications(draw: Any) -> str:
    """An experiment as YAML, with up to three axes beside tuned step sizes, a figure and a claim."""
    content = json.loads(json.dumps(BASE))
    names = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3, unique=True))
    for name in names:
        section = draw(st.sampled_from(["grid", "grid" if name.startswith("problem.") else "within"]))
        content.setdefault(section, {})[name] = draw(_values(VALUES[name]))
    rates = _values(RATES)
    tunable = "parameters.server_lr" not in names
    content["algorithms"] = {
        "fedavg": {"tune": {"lr": draw(rates)}},
        "other": {
            "algorithm": "fedavg",
            "tune": {"lr": draw(rates), "server_lr": draw(rates) if tunable and draw(st.booleans()) else None},
        },
        "fixed": {"algorithm": "fedavg", "set": {"lr": 0.1}},
    }
    axis, panel = draw(st.sampled_from(names)), draw(st.sampled_from(names))
    where = {}
    for name in names:
        values = content.get("grid", {}).get(name) or content["within"][name]
        if name not in (axis, panel) or draw(st.booleans()):
            ends = ["max", "min"] if axis_values.are_numbers(values) else []
            where[name] = draw(st.sampled_from([values[0], values[-1], *ends]))
            if name in (axis, panel) and draw(st.booleans()):
                where[name] = values
    figure = draw(
        st.sampled_from(
            [
                {"kind": "scaling", "x": axis},
                {"kind": "scaling", "x": axis, "reference": "linear"},
                {"kind": "scaling", "x": axis, "y": "lr"},
                {"kind": "table", "x": axis},
                *([{"kind": "heatmap", "x": axis, "rows": panel}] if panel != axis else []),
                {"kind": "sensitivity", "x": "lr"},
                {"kind": "convergence", "x": "rounds"},
                {"kind": "targets", "x": "rounds", "targets": [0.1, 1]},
                {"kind": "availability"},
            ]
        )
    )
    if figure["kind"] not in ("heatmap", "availability"):
        figure["panel"] = panel
    ids = ["fedavg", "other"]
    claim = draw(
        st.sampled_from(
            [
                {"kind": "reaches", "algorithms": ids, "at_most": 1},
                {"kind": "better", "algorithm": "fedavg", "than": ["other"]},
                {"kind": "speedup", "algorithms": ids, "axis": axis, "at_least": 0},
                {"kind": "choice_slope", "algorithm": "other", "parameter": "lr", "axis": axis, "at_least": 0},
                {"kind": "spread", "algorithms": ids, "among": {"lr": draw(rates)}, "at_least": 0},
                {"kind": "drop", "algorithms": ids, "axis": axis, "start": "best", "end": "worst", "at_least": 0},
                {"kind": "equal", "algorithms": ids, "tolerance": 1},
                {"kind": "fewer", "algorithm": "fedavg", "than": ["other"], "reduction": 0.5, "at_least": 1},
            ]
        )
    )
    content["figures"] = {"figure": {**figure, "where": where, "caption": "All."}}
    content["claims"] = {"claim": {"text": "It is.", "source": "none", "check": {**claim, "where": where}}}
    return yaml.safe_dump(content, sort_keys=False)


def _run(content: str, folder: Path) -> None:
    path = folder / "mine.yaml"
    path.write_text(content, encoding="utf-8", errors="surrogatepass")
    experiment = experiment_file.load(path, "smoke", folder)
    validate(experiment)
    cells = expansion.cells(experiment)
    if sum(len(list(runs(cell.spec))) for cell in cells) > 60:
        raise UserError("too long for a test")
    run_experiment(experiment, cells, folder)


def run_experiment(experiment: Experiment, cells: list[Cell], folder: Path) -> Any:
    """Compute all results of a valid experiment, and return its table.

    No run is lost or made twice, each is content by its values, and nothing raises.
    """
    files = {}
    for cell in cells:
        files[folder / f"runs/{cell.id}/{cell.key}.parquet"] = cell
    for path, cell in files.items():
        run_cell(cell.spec, path)
    for path, cell in files.items():
        repeated: list[Any] = []
        run_cell(cell.spec, path, progress=lambda *state, repeated=repeated: repeated.append(state))
        assert not repeated, "a finished run was made again"
    view = expansion.create_view(experiment)
    results = build(Layout(list(experiment.grid), list(experiment.within), view.tune, experiment.select), list(files))
    names = ("table", "curves", "trials")
    for name, frame in zip(names, results, strict=False):
        result_files.write(folder / f"{name}.parquet", frame, results.meta.plain())
    table, curves, trials = (result_files.read(folder / f"{name}.parquet")[0] for name in names)
    _assert_each_run_is_one_row(experiment, files, table)
    facts = build_facts(experiment, view)
    best_values(facts, table), chosen_values(facts, table)
    tags = {**facts.tags, "paper": "a paper"}
    logged = list(setting_runs(facts, read_tables(folder), tags, 0))
    assert len({run.key for run in logged}) == len(logged) == int(table["chosen"].sum())
    assert all(len(run.children) in (0, len(experiment.seeds)) for run in logged)
    for entry in experiment.figures.values():
        figure = FIGURES.build(entry.spec)
        specification = json.loads(json.dumps(inputs.specify(figure, cells)))
        try:
            arguments = inputs.build(figure, view, specification, inputs.ResultTables(table, curves, folder))
            draw(figure, view, outputs=[folder / "figure.svg"], **arguments)
        except UserError as error:
            raise AssertionError("the figure passed its check") from error
    try:
        judge_claims(experiment.claims, Results(view, table, curves, trials))
    except UserError as error:
        raise AssertionError("the claim passed its check") from error
    return table


def _runs(path: Path, cell: Cell) -> list[Run]:
    """Return the runs of a run file."""
    return list(runs(cell.spec, RunMeta.of(result_files.read_meta(path)).searches))


def _assert_each_run_is_one_row(experiment: Experiment, files: dict[Path, Cell], table: Any) -> None:
    """Assert that the values of each run select one row of the table."""
    points = 0
    for path, cell in files.items():
        for run in _runs(path, cell):
            values = {**cell.point, **run.within, **run.tune}
            row = table[table["algorithm"] == cell.id]
            for axis, value in values.items():
                row = row[[axis_values.equal(value, axis_values.parse(cell_value)) for cell_value in row[axis]]]
            assert len(row) == 1, f"{len(row)} rows of {values}"
            where = {axis: [value] if isinstance(value, str) else value for axis, value in values.items()}
            assert select_rows(table[table["algorithm"] == cell.id], where).index.tolist() == row.index.tolist()
            points += run.seed == (cell.spec.tuning_seeds or cell.spec.seeds)[0]
    assert points == len(table)


AXES = Target("axes", specifications(), _run, seconds=30, text=True)
