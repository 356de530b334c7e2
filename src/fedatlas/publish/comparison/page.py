"""The page of a comparison: an HTML file that opens offline."""

from collections.abc import Sequence
from pathlib import Path

from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.io.files import write_text
from fedatlas.publish.comparison import text
from fedatlas.publish.comparison.numbers import EntryNumbers
from fedatlas.publish.report.page import create_environment, load_figure, read_resources
from fedatlas.workflow.comparison import Comparison
from fedatlas.workflow.gallery_page import draw_figures


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
    names = experiment.figures
    draw_figures(comparison.study, request.size, comparison.name, folder, folder, names, (".png", ".svg"), view)
    figures = [load_figure(folder, name, entry.caption, out.parent) for name, entry in names.items()]
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
