"""Runs that another framework made, from a CSV file, beside those of an experiment."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fedatlas.errors import UserError, did_you_mean
from fedatlas.experiments.cells import CASE
from fedatlas.experiments.view import AlgorithmView, ExperimentView
from fedatlas.io.formats import read_csv

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("problem", "seed", "round", "loss")
TOLERANCE = 1e-5  # of the loss at the start, which frameworks round differently, and relative to it below F*


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

    runs = _read(path)
    cases = _cases(view, path, runs)
    id = path.stem
    if id in view.algorithms:
        raise UserError(f"{path}: {id} is an algorithm of the experiment: rename the file")
    runs = runs.assign(algorithm=id, **{CASE: runs["problem"].map(cases)}).drop(columns="problem")
    parts = [
        _checked(path, str(case), int(seed), part, curves[(curves[CASE] == case) & (curves["seed"] == seed)])
        for (case, seed), part in runs.groupby([CASE, "seed"], sort=False)
    ]
    seeds = runs.groupby(CASE)["seed"].nunique()
    if (seeds < 2).any():
        raise UserError(f"{path}: {seeds.idxmin()} has one seed, of which no interval follows: run several")
    absent = {case: "the file has no runs of it" for case in view.cases if case not in set(cases.values())}
    entry = AlgorithmView(algorithm=id, name=id, emphasis=True)
    view = replace(view, algorithms={**view.algorithms, id: entry}, undefined={**view.undefined, id: absent})
    return view, pd.concat([curves, *parts], ignore_index=True)


def _read(path: Path) -> "pd.DataFrame":
    """Return the rows of a file."""
    frame = read_csv(path)
    if missing := [column for column in COLUMNS if column not in frame]:
        raise UserError(f"{path} has no column {missing[0]!r}; it needs {', '.join(COLUMNS)}")
    if frame.empty:
        raise UserError(f"{path} has no rows")
    try:
        return frame[list(COLUMNS)].astype({"problem": str, "seed": int, "round": int, "loss": float})
    except ValueError as error:
        raise UserError(f"{path}: seed, round and loss must be numbers ({error})") from None


def _cases(view: ExperimentView, path: Path, runs: "pd.DataFrame") -> Mapping[str, str]:
    """Return the case of each name of a problem in a file: the case, or experiment and case, or the label."""
    if not view.cases:
        raise UserError(f"{view.name} has no cases, which runs of a file name as their problems")
    known = {name: case for case, label in view.cases.items() for name in (case, label)}
    result = {}
    for problem in runs["problem"].unique().tolist():
        name = problem.rpartition("/")[2] if problem not in known else problem
        if name not in known:
            raise UserError(f"{path}: unknown problem {problem!r}{did_you_mean(name, list(view.cases))}")
        result[problem] = known[name]
    return result


def _checked(path: Path, case: str, seed: int, run: "pd.DataFrame", others: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows of a run with all columns of curves that are known. Raises UserError if they do not fit."""
    where = f"{path}, {case}, seed {seed}"
    if others.empty:
        raise UserError(f"{where}: the experiment has no runs with this seed; it must be a scoring seed")
    run = run.sort_values("round")
    if run["round"].duplicated().any():
        raise UserError(f"{where}: a round stands twice; one run is expected")
    last = int(others["round"].max())
    if run["round"].iloc[0] != 0 or run["round"].iloc[-1] != last:
        rounds = f"{run['round'].iloc[0]} to {run['round'].iloc[-1]}"
        raise UserError(f"{where}: rounds are {rounds}; they must go from 0, the start, to {last}, as for all")
    start, loss = others.loc[others["round"] == 0, "loss"].iloc[0], run["loss"].iloc[0]
    if not abs(loss - start) <= TOLERANCE * max(abs(start), 1e-300):
        raise UserError(
            f"{where}: the loss at round 0 is {loss:g}; at the start of this instance it is {start:.10g}: begin there"
        )
    finite = others.dropna(subset=["suboptimality"]) if "suboptimality" in others else others.iloc[:0]
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
