"""`fedatlas compare`: train what the record lacks, and write the table, the page and the files of a comparison."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.result_files import write
from fedatlas.experiments.view import ExperimentView
from fedatlas.io.files import write_text
from fedatlas.io.formats import write_csv
from fedatlas.io.machine import core_count, format_duration
from fedatlas.publish.comparison import text
from fedatlas.publish.comparison.given_runs import add_runs
from fedatlas.publish.comparison.numbers import EntryNumbers, compute_numbers
from fedatlas.publish.report.page import create_environment, load_figure, read_resources
from fedatlas.workflow.comparison import SUITE, Comparison, Request, prepare
from fedatlas.workflow.estimates import Estimates
from fedatlas.workflow.gallery_page import draw_figures
from fedatlas.workflow.launch import start
from fedatlas.workflow.study import Study

if TYPE_CHECKING:
    import pandas as pd


def compare_entries(
    study: Study, request: Request, *, compute: bool = False, cores: str = "all"
) -> tuple[Comparison, list[EntryNumbers]]:
    """Compare algorithms with those of an experiment, print what is done, and write the files of the comparison.

    Args:
        study: The study.
        request: What is compared.
        compute: Whether to train what the record lacks of the other entries.
        cores: Number of cores, or ``all``.

    Returns:
        The comparison, whose ``path`` is that of the files, and the numbers of each algorithm.

    Raises:
        UserError: A name is unknown, there is nothing to compare with, or the workflow failed.
    """
    import pandas as pd

    comparison = prepare(study, request, compute)
    request = comparison.request
    lines = announce(comparison, compute, cores)
    print("\n".join(lines))
    if comparison.trained and start(comparison.targets, request.size, cores):
        raise UserError(f"the runs of {' and '.join(request.names)} failed; the log is named above")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        tables = comparison.collect(folder)
        view, curves = comparison.view, tables.curves
        for path in request.runs:
            view, curves = add_runs(view, curves, path)
        if request.runs:
            write(folder / "curves.parquet", curves, tables.meta.to_dict())
        numbers = compute_numbers(view, tables.table, curves, request.entries)
        given = {path.stem for path in request.runs}
        numbers = [replace(entry, absent="has no runs") if entry.id in given else entry for entry in numbers]
        write_csv(f"{comparison.path}.csv", pd.concat([entry.frame() for entry in numbers]))
        _write_page(comparison, view, numbers, lines, folder, Path(f"{comparison.path}.html"))
    return comparison, numbers


def announce(comparison: Comparison, compute: bool, cores: str) -> list[str]:
    """Return sentences on what the record gives, what is trained, and for how long on so many cores, or on all."""
    request, trained = comparison.request, comparison.trained
    held = len(comparison.cells) - len(trained)
    rivals = labels.count_noun(len({cell.id for cell in comparison.cells} - set(request.names)), "other")
    problems = labels.count_noun(len({cell.key for cell in comparison.cells}), "problem")
    names = " and ".join(request.entries)
    sentences = [f"{names} beside {rivals} on {problems} of {request.on} (size {request.size})"]
    if held:
        sentences.append(f"from the record: {labels.count_noun(held, 'run file')}")
    if waiting := len(comparison.waiting):
        specs = [cell.spec for cell in comparison.waiting]
        seconds = Estimates(comparison.study).elapsed(request.size, comparison.name, specs, count := core_count(cores))
        time = "" if seconds is None else f", {format_duration(seconds, False)} on {labels.count_noun(count, 'core')}"
        sentences.append(
            f"to train: {labels.count_noun(waiting, 'run file')}{time}{', as the others took' if time else ''}"
        )
    if here := len(trained) - waiting:
        sentences.append(f"from an earlier comparison: {labels.count_noun(here, 'run file')}")
    sentences += comparison.obstacles
    if comparison.missing and not compute:
        lacking = labels.count_noun(sum(comparison.missing.values()), "run file")
        ids = ", ".join(comparison.missing)
        sentences.append(f"left out: {ids}, of which the record lacks {lacking}; --compute trains them")
    if comparison.left_out:
        lacking = labels.count_noun(comparison.left_out, "problem")
        sentences.append(
            f"left out: {lacking} of {request.on} that the record lacks; --compute trains all entries on them"
        )
    if request.runs:
        files = " and ".join(map(str, request.runs))
        sentences.append(f"how the runs of {files} were tuned is not known here; all others are tuned alike")
    return sentences


def _write_page(
    comparison: Comparison,
    view: ExperimentView,
    numbers: Sequence[EntryNumbers],
    lines: Sequence[str],
    folder: Path,
    out: Path,
) -> None:
    """Write the page of a comparison, an HTML file that opens offline.

    lines: Sentences on how it was made. folder: Of table.parquet and curves.parquet of all runs.
    """
    request = comparison.request
    experiment = comparison.study.experiment(request.size, comparison.name)
    names = experiment.figures
    draw_figures(comparison.study, request.size, comparison.name, folder, names, view)
    figures = [load_figure(folder, name, figure["caption"], out.parent) for name, figure in names.items()]
    html = (
        create_environment(Path(__file__).parent)
        .get_template("comparison.html")
        .render(
            title=experiment.title,
            suite=request.on,
            size=request.size,
            entries=numbers,
            text=text,
            figures=figures,
            lines=lines,
            file=experiment.file,
            **read_resources(),
        )
    )
    write_text(out, html)


def compare(
    algorithms: str | Sequence[str],
    on: str = SUITE,
    size: str | None = None,
    *,
    quick: bool = False,
    compute: bool = False,
    set: Mapping[str, Any] | None = None,
    search: Mapping[str, Sequence[Any]] | None = None,
    runs: Sequence[str | Path] = (),
    cores: int | str = "all",
) -> "pd.DataFrame":
    """Compare algorithms with those of an experiment, as `fedatlas compare` does.

    What the record has is not trained. Files of the comparison lie in the folder ``compare`` of the results.

    Args:
        algorithms: Name of an algorithm of the study or of the atlas, or several.
        on: The experiment.
        size: Its size; by default that of the configuration.
        quick: Whether a third of the problems and five scoring seeds are enough.
        compute: Whether to train what the record lacks of the other entries.
        set: Hyper-parameters that are fixed.
        search: Ranges of hyper-parameters, by default those that the algorithm declares.
        runs: Files of runs that another framework made, which are compared too.
        cores: Number of cores, or ``all``.

    Returns:
        A DataFrame with a row for each algorithm and problem. Its ``attrs`` have ``sentences``, where each algorithm
        wins and where it loses, by id, and ``page``, the path of the page.

    Raises:
        UserError: A name is unknown, or there is nothing to compare with.
    """
    import pandas as pd

    study = Study.open()
    names = [algorithms] if isinstance(algorithms, str) else list(algorithms)
    request = Request(names, on, size or study.config["size"], quick, set or {}, search or {}, [*map(Path, runs)])
    comparison, numbers = compare_entries(study, request, compute=compute, cores=str(cores))
    frame = pd.concat([entry.frame() for entry in numbers], ignore_index=True)
    frame.attrs = {"sentences": {entry.id: entry.sentence for entry in numbers}, "page": f"{comparison.path}.html"}
    return frame
