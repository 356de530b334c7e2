"""From run files to the table of an experiment: scores, tuned choices, warnings, and the curves of what was chosen."""

import contextlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas import axis_values
from fedatlas.errors import UserError
from fedatlas.experiments import formulas, scores
from fedatlas.experiments.metadata import RunMeta, TableMeta
from fedatlas.experiments.result_files import read, read_meta
from fedatlas.experiments.scores import COSTS
from fedatlas.experiments.view import Select
from fedatlas.metrics import metric as record

if TYPE_CHECKING:
    import pandas as pd

Columns = dict[str, Callable[[Any], axis_values.Cell]]  # from a value to its cell of the table, by axis


@dataclass(frozen=True)
class Layout:
    """What a table must know of its experiment: names of the axes of grid and within, of all tuned hyper-parameters,
    and how tuned values are chosen."""

    grid: list[str]
    within: list[str]
    tune: list[str]
    select: Select

    @property
    def axes(self) -> list[str]:
        """Names of all axes."""
        return [*self.grid, *self.within]

    def plain(self) -> dict[str, Any]:
        """The layout as JSON types."""
        return asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Layout":
        """The layout that ``plain`` gave."""
        return cls(**{**plain, "select": Select(**plain["select"])})


def build(layout: Layout, files: Sequence[Path]) -> "tuple[pd.DataFrame, pd.DataFrame, TableMeta]":
    """(table, curves, metadata) of an experiment.

    files: all run files, ``ALGORITHM/POINT.parquet``, in the order of the experiment's cells. Table: a row for each
    algorithm, point of the axes and tuned values, with means over seeds; ``chosen`` marks the tuned values that won,
    ``edge`` says where a winner lies at an end of its axis. A run that diverged cannot be chosen. Curves: all
    evaluations of the chosen. Raises UserError if a file is none.
    """
    import pandas as pd

    summaries, curves, metas = [], [], []
    columns = _columns(layout, files)
    parts = ((path.parent.name, *_read(path, columns)) for path in files)
    for (id, _), group in itertools.groupby(parts, key=lambda part: (part[0], _point(layout, part[2], columns))):
        frame, meta = _joined(list(group), columns)
        metas.append((id, meta))
        frame.insert(0, "algorithm", id)
        for axis, cell in _point(layout, meta, columns):
            frame.insert(1, axis, cell)
        tune = [axis for axis in layout.tune if axis in meta.spec.tune]
        keys = ["algorithm", *layout.axes, *tune]
        table = _summarise(frame, keys, layout.select)
        _choose(table, ["algorithm", *layout.axes], tune, meta.spec.tune, layout.select.goal)
        summaries.append(table)
        curves.append(frame.merge(table.loc[table["chosen"], keys], on=keys))
    table = pd.concat(summaries, ignore_index=True)
    return table, pd.concat(curves, ignore_index=True), _metadata(table, metas)


def _columns(layout: Layout, files: Sequence[Path]) -> Columns:
    """How values become cells, by axis: all run files decide, because one may hold numbers and another formulas."""
    values: dict[str, list[Any]] = {axis: [] for axis in (*layout.axes, *layout.tune)}
    for path in files:
        spec = RunMeta.of(read_meta(path)).spec
        for axis in layout.grid:
            values[axis].append(spec.look(axis))
        for axis, those in {**spec.within, **spec.tune}.items():
            values[axis] += those
    return {axis: axis_values.column(those) for axis, those in values.items()}


def _read(path: Path, columns: Columns) -> "tuple[pd.DataFrame, RunMeta]":
    """A run file, with cells as in the table."""
    frame, meta = read(path)
    spec = RunMeta.of(meta).spec
    for axis in (*spec.within, *spec.tune):
        cells = {cell: columns[axis](axis_values.parsed(cell)) for cell in frame[axis].unique().tolist()}
        if any(type(cell) is not type(other) for cell, other in cells.items()):
            frame[axis] = frame[axis].map(cells)
    return frame, RunMeta.of(meta)


def _point(layout: Layout, meta: RunMeta, columns: Columns) -> list[tuple[str, axis_values.Cell]]:
    """The grid point of a run file: (axis, cell of the table)."""
    return [(axis, columns[axis](meta.spec.look(axis))) for axis in layout.grid]


def _joined(parts: list[tuple[str, Any, RunMeta]], columns: Columns) -> tuple[Any, RunMeta]:
    """(DataFrame, metadata) of the files that the runs of an algorithm at a grid point are spread over."""
    import pandas as pd

    _, frame, meta = parts[0]
    if len(parts) == 1:
        return frame, meta
    places = {axis: {columns[axis](v): at for at, v in enumerate(vs)} for axis, vs in meta.spec.within.items()}
    frame = pd.concat([frame for _, frame, _ in parts], ignore_index=True)
    return frame.sort_values(list(places), key=lambda c: c.map(places[c.name]), ignore_index=True), meta


def _summarise(frame: "pd.DataFrame", keys: list[str], select: Select) -> "pd.DataFrame":
    metrics = scores.metric_columns(frame, keys)
    runs = frame[frame["round"] > 0].groupby([*keys, "seed"], sort=False, dropna=False)
    best = runs.agg({name: record(name).goal for name in metrics}).add_prefix("best_")
    final = runs[["round", "steps", *COSTS, *metrics]].last().rename(columns={m: f"final_{m}" for m in metrics})
    final = final.rename(columns={"round": "rounds"}).drop(columns=[name for name in ("rounds",) if name in keys])
    each = best.join(final).join(runs[["status"]].last()).reset_index()
    each["score"] = scores.of_groups(runs, select.metric, select.statistic, select.goal).to_numpy()
    each["diverged"] = (each["status"] == "diverged").astype(int)
    each.loc[each["diverged"] == 1, "score"] = np.inf if select.goal == "min" else -np.inf
    groups = each.groupby(keys, sort=False, dropna=False)
    numbers = [c for c in each.columns if c not in (*keys, "seed", "status", "diverged", "score")]
    with np.errstate(invalid="ignore"):
        score = groups["score"].agg(score="mean", score_sd="std", score_min="min", score_max="max", seeds="count")
    return score.join(groups["diverged"].sum()).join(groups[numbers].mean()).reset_index()


def _choose(table: "pd.DataFrame", point: list[str], tune: list[str], axes: dict[str, list[Any]], goal: str) -> None:
    table["chosen"], table["edge"] = False, ""
    for _, group in table.groupby(point, sort=False, dropna=False):
        score = group["score"] if goal == "min" else -group["score"]
        winner = score.idxmin()
        table.loc[winner, "chosen"] = True
        ends = {axis: _end(axis_values.parsed(table.loc[winner, axis]), axes[axis]) for axis in tune}
        table.loc[winner, "edge"] = "; ".join(f"{axis} at its {end} value" for axis, end in ends.items() if end)


def _end(value: Any, values: list[Any]) -> str:
    """``lowest`` or ``highest`` if a tuned value lies at that end of its axis.

    Numbers are ordered by themselves, formulas by their values where all constants are 1; words have no order, and
    neither have a number and a formula of constants.
    """
    sizes = {size: one for one in values if (size := _size(one)) is not None}
    if len(sizes) < 2 or len({formulas.names(one) != set() for one in sizes.values()}) > 1:
        return ""
    ends = {"lowest": sizes[min(sizes)], "highest": sizes[max(sizes)]}
    return next((end for end, one in ends.items() if axis_values.same(one, value)), "")


def _size(value: Any) -> float | None:
    if isinstance(value, str):
        with contextlib.suppress(UserError):
            return formulas.evaluate(value, "")
        return None
    return None if isinstance(value, bool) or not isinstance(value, (int, float)) else value


def _metadata(table: "pd.DataFrame", metas: list[tuple[str, RunMeta]]) -> TableMeta:
    return TableMeta(
        versions=metas[0][1].versions,
        data={name: entry for _, meta in metas for name, entry in meta.data.items()},
        fingerprints={id: meta.fingerprint for id, meta in metas},
        runs=int(table["seeds"].sum()),
        diverged_runs=int(table["diverged"].sum()),
    )
