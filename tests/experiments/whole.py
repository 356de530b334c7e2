"""All results of an experiment, from its cells to table, figures, claims and MLflow's runs."""

import json
from pathlib import Path
from typing import Any

from fedatlas import UserError
from fedatlas.experiments import expansion, result_files
from fedatlas.experiments.cells import Cell, Run
from fedatlas.experiments.run import run_cell
from fedatlas.experiments.runs import RunMeta, runs
from fedatlas.experiments.specification import Experiment
from fedatlas.experiments.tables import build
from fedatlas.experiments.values import are_equal, parse_cell
from fedatlas.experiments.view import select_rows
from fedatlas.publish.report.facts import build_facts
from fedatlas.publish.report.tables import best_values, chosen_values
from fedatlas.publish.tracking.records import setting_runs
from fedatlas.results.claims.results import Results
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.renderer import draw
from fedatlas.workflow import inputs
from fedatlas.workflow.jobs.claims import judge_claims


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
    results = build(list(experiment.grid), experiment.select, list(files))
    names = ("table", "curves", "trials")
    for name, frame in zip(names, results, strict=False):
        result_files.write(folder / f"{name}.parquet", frame, results.meta.to_dict())
    table, curves, trials = (result_files.read(folder / f"{name}.parquet")[0] for name in names)
    _assert_each_run_is_one_row(experiment, files, table)
    facts = build_facts(experiment, view)
    best_values(facts, table), chosen_values(facts, table)
    logged = list(setting_runs(facts, table, curves, results.meta, 0))
    assert len({run.key for run in logged}) == len(logged) == int(table["chosen"].sum())
    for name in experiment.figures:
        figure = FIGURES.build(experiment.figure(name))
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
    return list(runs(cell.spec, RunMeta.from_dict(result_files.read_meta(path)).searches))


def _assert_each_run_is_one_row(experiment: Experiment, files: dict[Path, Cell], table: Any) -> None:
    """Assert that the values of each run select one row of the table."""
    points = 0
    for path, cell in files.items():
        for run in _runs(path, cell):
            values = {**cell.point, **run.within, **run.tune}
            row = table[table["algorithm"] == cell.id]
            for axis, value in values.items():
                row = row[[are_equal(value, parse_cell(cell_value)) for cell_value in row[axis]]]
            assert len(row) == 1, f"{len(row)} rows of {values}"
            where = {axis: [value] if isinstance(value, str) else value for axis, value in values.items()}
            assert select_rows(table[table["algorithm"] == cell.id], where).index.tolist() == row.index.tolist()
            points += run.seed == (cell.spec.tuning_seeds or cell.spec.seeds)[0]
    assert points == len(table)
