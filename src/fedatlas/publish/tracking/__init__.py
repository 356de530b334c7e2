"""Results in MLflow: for each size a report run, and a run for each algorithm and setting."""

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.experiments.metadata import TableMeta
from fedatlas.experiments.result_files import read
from fedatlas.experiments.tables import Layout, Tables, build
from fedatlas.publish.report.facts import ExperimentFacts
from fedatlas.publish.tracking.connection import TrackingError, connect, open_experiment, retry
from fedatlas.publish.tracking.report_run import build_report_run
from fedatlas.publish.tracking.run_log import RunLog
from fedatlas.publish.tracking.run_record import RunRecord, common_tags
from fedatlas.publish.tracking.server import serve_ui
from fedatlas.publish.tracking.setting_runs import build_setting_runs

__all__ = ["TrackingError", "log", "log_run_file", "serve_ui"]


def log(facts: ExperimentFacts, directory: str | Path, uri: str) -> dict[str, Any]:
    """Log an experiment's results to MLflow; runs that are in MLflow unchanged are left alone.

    A run that diverged is FINISHED, not FAILED, because its divergence is a result; the tag ``status`` says so. Where a
    server does not answer, logging is tried again for ten minutes.

    Args:
        facts: The experiment's facts.
        directory: Folder of table.parquet, curves.parquet, trials.parquet and the run files, and of report.html,
            table.csv, claims.csv and figures/, as far as they exist.
        uri: ``sqlite:///FILE`` or the address of a server.

    Returns:
        A receipt: ids of the experiment and of the report run, and counts of logged, unchanged and deleted runs.

    Raises:
        UserError: There are no results, or a file is not a result file.
        TrackingError: MLflow does not take the runs.
    """
    directory = Path(directory)
    tables, tags = read_tables(directory), common_tags(facts)
    runs = list(build_setting_runs(facts, tables, [directory / name for name in tables.meta.files], tags))
    report = build_report_run(facts, directory, tables.table, tables.meta, tags, 1 + max(run.end for run in runs))
    return retry(functools.partial(_update, facts, uri, f"{facts.size}/", [report, *runs], runs[0].params))


def read_tables(directory: Path) -> Tables:
    """Return table, curves and trials in a folder of results. Raises UserError where they are missing."""
    (table, meta), (curves, _), (trials, _) = (
        read(directory / f"{name}.parquet") for name in ("table", "curves", "trials")
    )
    return Tables(table, curves, trials, TableMeta.of(meta))


def log_run_file(facts: ExperimentFacts, path: str | Path, uri: str) -> None:
    """Log the runs of one run file as soon as it is written, so that a server shows a workflow while it runs.

    Jobs may do so at the same time. `log` later adds the report run and the order of the runs, and deletes runs that
    were logged twice.

    Args:
        facts: The experiment's facts.
        path: Path of the run file, in a folder named by the algorithm's id.
        uri: ``sqlite:///FILE`` or the address of a server.

    Raises:
        UserError: The file is not a run file.
        TrackingError: MLflow does not take the runs.
    """
    path, within = Path(path), [axis for axis in facts.axes if axis not in facts.grid]
    tables = build(Layout(facts.grid, within, facts.tune, facts.select), [path])
    runs = list(build_setting_runs(facts, tables, [path], common_tags(facts)))
    for run in runs:
        run.place = None
    _update(facts, uri, f"{facts.size}/{path.parent.name}/", runs)


def _update(
    facts: ExperimentFacts, uri: str, prefix: str, runs: Sequence[RunRecord], setting: dict[str, str] | None = None
) -> dict[str, Any]:
    """Bring the runs of an experiment with a prefix up to date, and return a receipt.

    Args:
        facts: The experiment's facts.
        uri: Address of the database or server.
        prefix: Prefix of the keys of runs.
        runs: The runs.
        setting: Parameters of the first setting run where these are all runs; None for a part of them.
    """
    with connect(uri) as client:
        experiment = open_experiment(client, facts, uri, setting)
        counts = RunLog(client, experiment, uri, prefix).update(runs, whole=setting is not None)
        return {"experiment_id": experiment.experiment_id, **counts}
