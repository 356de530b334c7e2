"""The jobs of the workflow: each makes the files of one rule from nothing but the rule's inputs and parameters."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.files import atomic


def partition(origin: dict[str, Any], out: str, directory: str | None = None) -> None:
    """Split data over clients. origin: ``data``, ``partition`` and ``clients``. directory: of the prepared data."""
    from fedatlas import partitions
    from fedatlas.data.prepared import load

    made = partitions.split(origin["partition"], load(origin["data"], directory).y, origin["clients"])
    assert made is not None  # a partition that splits nothing has no file
    made.save(out)


def optimum(origin: dict[str, Any], out: str, directory: str | None = None) -> None:
    """Solve a problem. origin: ``problem`` and ``clients``. directory: of the prepared data."""
    from fedatlas.experiments.optimum import solve

    solve(origin["problem"], origin["clients"], out, directory)


def table(layout: dict[str, Any], runs: Sequence[str], folder: str) -> None:
    """Write table.parquet, table.csv and curves.parquet into a folder. runs: paths of all run files, in order."""
    from fedatlas.experiments import result_files, tables

    frame, curves, meta = tables.build(tables.Layout.of(layout), [Path(path) for path in runs])
    result_files.write(Path(folder) / "curves.parquet", curves, meta)
    with atomic(Path(folder) / "table.csv") as temporary:
        frame.to_csv(temporary, index=False)
    result_files.write(Path(folder) / "table.parquet", frame, meta)
    for warning in meta["warnings"]:
        print(f"warning: {warning}")


def figure(spec: dict[str, Any], folder: str, outputs: Sequence[str], directory: str | None = None) -> None:
    """Draw a figure.

    spec: ``figure``, ``view`` and ``inputs``, as the workflow's graph has them. folder: of table.parquet and
    curves.parquet. outputs: paths, whose suffixes choose the format. directory: of the prepared data.
    """
    from fedatlas.experiments.result_files import read
    from fedatlas.experiments.view import EMPTY, View
    from fedatlas.figures import FIGURES
    from fedatlas.figures.drawing import draw
    from fedatlas.workflow.inputs import made

    kind, view, frame, curves = FIGURES.build(spec["figure"]), EMPTY, None, None
    if kind.draws_results:
        view = View.of(spec["view"])
        (frame, _), (curves, _) = (read(Path(folder) / f"{name}.parquet") for name in ("table", "curves"))
    draw(kind, view, curves=curves, outputs=outputs, **made(kind, view, spec["inputs"], frame, directory))


def claims(spec: dict[str, Any], folder: str, out: str) -> None:
    """Judge the claims of an experiment. spec: ``view`` and ``claims``. folder: of table.parquet and curves.parquet."""
    from fedatlas.checks.judging import check
    from fedatlas.experiments.result_files import read
    from fedatlas.experiments.specification import Claim
    from fedatlas.experiments.view import View

    (frame, _), (curves, _) = (read(Path(folder) / f"{name}.parquet") for name in ("table", "curves"))
    claims = {name: Claim(**claim) for name, claim in spec["claims"].items()}
    with atomic(out) as temporary:
        check(View.of(spec["view"]), claims, frame, curves).to_csv(temporary, index=False)


def track(folder: str, uri: str, runs: Sequence[str]) -> None:
    """Log an experiment to MLflow and write the receipt mlflow.json.

    folder: of about.json, the table, claims.csv and figures. runs: paths of all run files, in order.
    """
    from fedatlas import tracking
    from fedatlas.report.record import About

    about = About.read(Path(folder) / "about.json")
    receipt = tracking.log(about, Path(folder), uri, [Path(path) for path in runs])
    with atomic(Path(folder) / "mlflow.json") as temporary:
        temporary.write_text(json.dumps(receipt, indent=1) + "\n")


def track_run_file(about: str, path: str, uri: str) -> None:
    """Log a run file to a server as soon as it is there. A server that does not answer is no failure: track comes.

    about: JSON of the experiment's About.
    """
    from fedatlas import tracking
    from fedatlas.report.record import About

    try:
        tracking.live(About.of(json.loads(about)), Path(path), uri)
    except UserError as error:
        print(f"warning: {error}; these runs will be logged when the experiment is complete")


def report(folders: Sequence[str], out: str) -> None:
    """Write the report over experiments, and beside it all their claims as claims.csv.

    folders: of about.json, table.parquet, claims.csv and figures of each experiment.
    """
    import pandas as pd

    from fedatlas.report.page import report as write

    together = Path(out).with_name("claims.csv")
    sources = [Path(folder) / "claims.csv" for folder in folders]
    if together not in sources:
        with atomic(together) as temporary:
            frames = [pd.read_csv(path, dtype=str, keep_default_na=False) for path in sources]
            pd.concat(frames, ignore_index=True).to_csv(temporary, index=False)
    write([Path(folder) for folder in folders], Path(out))


def instability(paths: Sequence[str]) -> None:
    """Write the study of Theorem 4.2: the distances as CSV, the figure in other formats."""
    from fedatlas.figures.instability import draw
    from fedatlas.theory.instability import study

    frame = study()
    for path in map(Path, paths):
        if path.suffix == ".csv":
            with atomic(path) as temporary:
                frame.to_csv(temporary, index=False)
        else:
            draw(frame, path)
