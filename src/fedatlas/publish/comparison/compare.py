"""`fedatlas compare`: train what the record lacks, and write the table, the page and the files of a comparison.

Runs that another framework made stand beside those of an experiment, from a CSV file.
"""

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError, did_you_mean
from fedatlas.experiments import labels
from fedatlas.experiments.cells import CASE
from fedatlas.experiments.result_files import write
from fedatlas.experiments.view import AlgorithmView, ExperimentView
from fedatlas.io.files import write_text
from fedatlas.io.formats import read_csv, write_csv
from fedatlas.io.machine import core_count, format_duration
from fedatlas.publish.comparison import text
from fedatlas.publish.comparison.numbers import EntryNumbers, compute_numbers
from fedatlas.publish.report.page import create_environment, load_figure, read_resources
from fedatlas.workflow.comparison import SUITE, Comparison, Request, prepare
from fedatlas.workflow.estimates import Estimates
from fedatlas.workflow.gallery_page import draw_figures
from fedatlas.workflow.launch import start
from fedatlas.workflow.study import Study

if TYPE_CHECKING:
    import pandas as pd

RUN_COLUMNS = ("problem", "seed", "round", "loss")  # of a file of runs
TOLERANCE = 1e-5  # of the loss at the start, which frameworks round differently, and relative to it below F*


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
        file_ids = {path.stem for path in request.runs}
        numbers = [replace(entry, absent="has no runs") if entry.id in file_ids else entry for entry in numbers]
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
    if earlier := len(trained) - waiting:
        sentences.append(f"from an earlier comparison: {labels.count_noun(earlier, 'run file')}")
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


def add_runs(view: ExperimentView, curves: "pd.DataFrame", path: Path) -> "tuple[ExperimentView, pd.DataFrame]":
    """Return an experiment and its curves with runs of a file as one more algorithm, which has the name of the file.

    Args:
        view: The experiment as figures see it.
        curves: Its curves.
        path: The file, with the columns problem, seed, round and loss; others are not read.

    Raises:
        UserError: A column is missing, or rows do not fit the experiment.
    """
    import pandas as pd

    runs = _read_runs(path)
    cases = _cases(view, path, runs)
    id = path.stem
    if id in view.algorithms:
        raise UserError(f"{path}: {id} is an algorithm of the experiment: rename the file")
    runs = runs.assign(algorithm=id, **{CASE: runs["problem"].map(cases)}).drop(columns="problem")
    parts = [
        _check_run(path, str(case), int(seed), part, curves[(curves[CASE] == case) & (curves["seed"] == seed)])
        for (case, seed), part in runs.groupby([CASE, "seed"], sort=False)
    ]
    seeds = runs.groupby(CASE)["seed"].nunique()
    if (seeds < 2).any():
        raise UserError(f"{path}: {seeds.idxmin()} has one seed, of which no interval follows: run several")
    absent = {case: "the file has no runs of it" for case in view.cases if case not in set(cases.values())}
    entry = AlgorithmView(algorithm=id, name=id, emphasis=True)
    view = replace(view, algorithms={**view.algorithms, id: entry}, undefined={**view.undefined, id: absent})
    return view, pd.concat([curves, *parts], ignore_index=True)


def _read_runs(path: Path) -> "pd.DataFrame":
    """Return the rows of a file."""
    frame = read_csv(path)
    if missing := [column for column in RUN_COLUMNS if column not in frame]:
        raise UserError(f"{path} has no column {missing[0]!r}; it needs {', '.join(RUN_COLUMNS)}")
    if frame.empty:
        raise UserError(f"{path} has no rows")
    try:
        return frame[list(RUN_COLUMNS)].astype({"problem": str, "seed": int, "round": int, "loss": float})
    except ValueError as error:
        raise UserError(f"{path}: seed, round and loss must be numbers ({error})") from None


def _cases(view: ExperimentView, path: Path, runs: "pd.DataFrame") -> Mapping[str, str]:
    """Return the case of each name of a problem in a file: the case, or experiment and case, or the label."""
    if not view.cases:
        raise UserError(f"{view.name} has no cases, which runs of a file name as their problems")
    cases = {name: case for case, label in view.cases.items() for name in (case, label)}
    result = {}
    for problem in runs["problem"].unique().tolist():
        name = problem.rpartition("/")[2] if problem not in cases else problem
        if name not in cases:
            raise UserError(f"{path}: unknown problem {problem!r}{did_you_mean(name, list(view.cases))}")
        result[problem] = cases[name]
    return result


def _check_run(path: Path, case: str, seed: int, run: "pd.DataFrame", curves: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of a run with all columns of curves that are known. Raises UserError if they do not fit."""
    where = f"{path}, {case}, seed {seed}"
    if curves.empty:
        raise UserError(f"{where}: the experiment has no runs with this seed; it must be a scoring seed")
    run = run.sort_values("round")
    if run["round"].duplicated().any():
        raise UserError(f"{where}: a round stands twice; one run is expected")
    last = int(curves["round"].max())
    if run["round"].iloc[0] != 0 or run["round"].iloc[-1] != last:
        rounds = f"{run['round'].iloc[0]} to {run['round'].iloc[-1]}"
        raise UserError(f"{where}: rounds are {rounds}; they must go from 0, the start, to {last}, as for all")
    start, loss = curves.loc[curves["round"] == 0, "loss"].iloc[0], run["loss"].iloc[0]
    if not abs(loss - start) <= TOLERANCE * max(abs(start), 1e-300):
        raise UserError(
            f"{where}: the loss at round 0 is {loss:g}; at the start of this instance it is {start:.10g}: begin there"
        )
    finite = curves.dropna(subset=["suboptimality"]) if "suboptimality" in curves else curves.iloc[:0]
    status = "ok" if run["loss"].map(math.isfinite).all() else "diverged"
    run = run.assign(status=status)
    if len(finite):
        least = float((finite["loss"] - finite["suboptimality"]).iloc[finite["suboptimality"].to_numpy().argmin()])
        if run["loss"].min() < least - TOLERANCE * max(abs(start - least), 1e-300):
            raise UserError(
                f"{where}: a loss is {run['loss'].min():g}, which is less than the least loss {least:.10g} of this "
                "instance: it is the loss of another objective"
            )
        run = run.assign(suboptimality=(run["loss"] - least).clip(lower=0))
    return run
