"""The page of a comparison: an HTML file that opens offline."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.io.files import write_text
from fedatlas.publish.comparison import text
from fedatlas.publish.comparison.numbers import EntryNumbers
from fedatlas.publish.report.page import create_environment, load_figure, read_resources
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.drawing import figure_paths
from fedatlas.workflow.comparison import Comparison
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.jobs import figure


def write_page(
    comparison: Comparison,
    view: ExperimentView,
    numbers: Sequence[EntryNumbers],
    lines: Sequence[str],
    folder: Path,
    out: Path,
) -> None:
    """Write the page of a comparison.

    Args:
        comparison: The comparison.
        view: Its experiment as figures see it, with the runs of files.
        numbers: Numbers of the algorithms that are compared.
        lines: Sentences on how it was made.
        folder: Folder with table.parquet and curves.parquet of all runs.
        out: Path of the page.
    """
    request = comparison.request
    experiment = comparison.study.experiment(request.size, comparison.name)
    figures = [_draw(comparison, view, name, entry.caption, folder, out) for name, entry in experiment.figures.items()]
    html = (
        create_environment(Path(__file__).parent)
        .get_template("comparison.html")
        .render(
            title=experiment.title,
            suite=request.on,
            size=request.size,
            entries=[
                {
                    "numbers": entry,
                    "problems": text.problem_rows(entry),
                    "overall": text.overall_rows(entry),
                    "costs": text.cost_rows(entry),
                    "choices": text.choice_rows(entry),
                    "note": text.note(entry),
                }
                for entry in numbers
            ],
            figures=figures,
            lines=lines,
            command=request.command,
            file=experiment.file,
            **read_resources(),
        )
    )
    write_text(out, html)


def _draw(
    comparison: Comparison, view: ExperimentView, name: str, caption: str, folder: Path, out: Path
) -> dict[str, Any]:
    """Draw a figure of the comparison's experiment, and return its content for the template."""
    w = SimpleNamespace(size=comparison.request.size, experiment=comparison.name, figure=name)
    spec = json.loads(Graph(comparison.study).specification("figure", w)) | {"view": view.plain()}
    files = [folder / file for file in figure_paths(name, FIGURES.get(spec["figure"]["kind"]).is_table)]
    figure.make(spec, str(folder), [str(file) for file in files if file.suffix in (".png", ".svg", ".json")])
    return load_figure(folder, name, caption, out.parent)
