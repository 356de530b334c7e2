"""Whether tuning ends at the optimum: tuned values of the landscape beside a dense reference, on fresh seeds.

For each pair of a method and a problem the landscape's rule chooses a value. The reference is the best of 500
quasi-random trials, in ranges that are a decade longer at either end, and of two finer and finer grids around it. All
are compared on the same tuning seeds and confirmed as tuned values are. Both run on the scoring seeds, which neither
has seen. The gap is the share by which the tuned value's suboptimality is larger, the geometric mean over seeds, with
the 95 % interval of Student's t over their logarithms. Tuning ended at the optimum where the middle of the interval is
below 10 %.

    fedatlas data fetch digits breast_cancer mushrooms
    python benchmarks/saturation.py --work results/saturation scaffold@unlike fedspeed@unlike
    python benchmarks/saturation.py --work results/saturation        # all pairs, which takes hours

What is computed stays in the folder, and an interrupted script goes on from there. Each pair that is done becomes a row
of docs/saturation.csv and of the table in docs/landscape.md, which lists those that are missing.
"""

import argparse
import dataclasses
import itertools
import math
import re
import statistics
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from fedatlas.data.paths import resolve_directory
from fedatlas.experiments import expansion, experiment_file, labels
from fedatlas.experiments.cells import CellSpec, Point
from fedatlas.experiments.result_files import read
from fedatlas.experiments.run import problem_of_seed, run_cell
from fedatlas.experiments.tuning import option_of
from fedatlas.experiments.tuning.pattern_search import FLOOR, SUBOPTIMALITY
from fedatlas.experiments.tuning.trials import draw, times
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.workflow.configuration import FOLDER, shipped

ROOT = Path(__file__).parents[1]
TABLE, PAGE = ROOT / "docs/saturation.csv", ROOT / "docs/landscape.md"
PAIRS = [  # cheap ones first; the last two need the data set mushrooms
    "scaffold@unlike",
    "fedavg@alike",
    "mime@unlike",
    "dane+-gd@alike",
    "feddyn@alike-unreliable",
    "fedcm@unlike-sample",
    "fedspeed@unlike",
    "svrp-gd@unlike",
    "fedadam@alike-sample",
    "fedac-1@softmax-sample",
    "fedpd@logistic",
    "fedspeed@logistic",
]
TRIALS = 500
BEYOND = 10  # factor by which the reference's ranges are longer at either end
GRIDS = (1.0, 0.25)  # steps of the grids around the best, in doublings; five values of each hyper-parameter
LINE = 0.1  # gap above which tuning did not end at the optimum


def landscape_cell(pair: str) -> CellSpec:
    """Return the cell of a method and a problem, such as ``fedavg@alike``."""
    id, case = pair.split("@")
    experiment = experiment_file.load(shipped() / FOLDER / "landscape.yaml", "laptop")
    (cell,) = [cell for cell in expansion.cells(experiment) if (cell.id, cell.spec.case) == (id, case)]
    return cell.spec


def with_trials(spec: CellSpec, points: Sequence[Point]) -> CellSpec:
    """Return a cell that compares some points and no others."""
    assert spec.select is not None
    axes = {name: [point[name] for point in points] for name in points[0]}
    return dataclasses.replace(spec, tune=axes, tuning=None, select=dataclasses.replace(spec.select, extend=0))


def dense_points(spec: CellSpec, trials: int) -> list[Point]:
    """Return quasi-random points of the cell's space, whose ranges are longer at either end."""
    assert spec.space is not None
    space = {name: [times(low, 1 / BEYOND), times(high, BEYOND)] for name, (low, high) in spec.space.items()}
    axes = draw(space, {name: option_of(spec, name) for name in space}, trials)
    return [dict(zip(axes, values, strict=True)) for values in zip(*axes.values(), strict=True)]


def grid_points(spec: CellSpec, centre: Point, step: float) -> list[Point]:
    """Return a grid around a point, with two steps to each side, as far as the options allow."""
    sides = {}
    for name, value in centre.items():
        option = option_of(spec, name)
        values = [times(value, 2 ** (step * count)) if count else value for count in (-2, -1, 0, 1, 2)]
        sides[name] = [each for each in values if isinstance(each, str) or option.fits(each)]
    return [dict(zip(sides, values, strict=True)) for values in itertools.product(*sides.values())]


class Runs:
    """The runs of a pair, in a folder."""

    def __init__(self, spec: CellSpec, folder: Path, data: Path) -> None:
        """Solve the problem, where it has one optimum for all seeds.

        Args:
            spec: The cell.
            folder: Folder of the pair.
            data: Folder of the data.
        """
        self.spec, self.folder, self.data = spec, folder, data
        folder.mkdir(parents=True, exist_ok=True)
        self.optimum = folder / "optimum.npz" if spec.optimum else None
        if self.optimum is not None and not self.optimum.exists():
            problem_of_seed(spec, data)(0).solve().save(self.optimum)

    def choose(self, spec: CellSpec, name: str) -> tuple[Point, pd.Series, int]:
        """Run a cell, and return the value that it chose, its suboptimality by scoring seed, and its trials."""
        path = self.folder / f"{name}.parquet"
        run_cell(spec, path, self.data, optimum=self.optimum)
        frame, meta = read(path)
        (search,) = meta["searches"]
        runs = frame[frame["seed"].isin(spec.seeds)].groupby("seed", sort=True)[SUBOPTIMALITY]
        return search["chosen"], runs.last().clip(lower=FLOOR * runs.first()), len(next(iter(search["axes"].values())))


def compare(pair: str, folder: Path, data: Path, trials: int) -> dict[str, Any]:
    """Return the row of a pair."""
    spec = landscape_cell(pair)
    runs = Runs(spec, folder / pair, data)
    chosen, tuned, count = runs.choose(spec, "tuned")
    best, reference, _ = runs.choose(with_trials(spec, dense_points(spec, trials)), "dense")
    for number, step in enumerate(GRIDS, 1):
        best, reference, _ = runs.choose(with_trials(spec, grid_points(spec, best, step)), f"grid{number}")
    gap, low, high = interval(np.log(tuned / reference))
    return {
        "method": spec.algorithm,
        "problem": spec.case,
        "hyper_parameters": len(chosen),
        "trials": count,
        "tuned": text(chosen),
        "reference": text(best),
        "suboptimality": float(np.exp(np.log(tuned).mean())),
        "gap": gap,
        "low": low,
        "high": high,
    }


def interval(logarithms: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean gap and its interval from the logarithms of ratios."""
    values = list(logarithms)
    mean, error = statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values))
    half = float(stats.t.ppf(0.975, len(values) - 1)) * error
    return tuple(math.expm1(value) for value in (mean, mean - half, mean + half))  # type: ignore[return-value]


def text(point: Point) -> str:
    """Return a point in words."""
    return ", ".join(labels.assignment(name, value) for name, value in point.items())


def write(rows: Sequence[dict[str, Any]]) -> None:
    """Add rows to the CSV file, and write the table of the page from it."""
    old = pd.read_csv(TABLE) if TABLE.exists() else pd.DataFrame()
    table = pd.concat([old, pd.DataFrame(rows)]).drop_duplicates(["method", "problem"], keep="last")
    table.to_csv(TABLE, index=False, float_format="%.6g")
    found = {f"{row['method']}@{row['problem']}": row for row in table.to_dict("records")}
    lines = [
        "| method | problem | hyper-parameters | trials | gap | 95 % interval | at the optimum |",
        "|" + "---|" * 7,
    ]
    for pair in PAIRS:
        if row := found.get(pair):
            gap, low, high = (f"{100 * row[name]:.1f} %" for name in ("gap", "low", "high"))
            cells = [ALGORITHMS.get(row["method"]).label, f"`{row['problem']}`", row["hyper_parameters"], row["trials"]]
            cells += [gap, f"{low} to {high}", "yes" if row["gap"] < LINE else "no"]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    missing = [pair for pair in PAIRS if pair not in found]
    lines += ["", f"Not run yet: {', '.join(f'`{pair}`' for pair in missing)}." if missing else "All pairs were run."]
    begin, end = "<!-- benchmarks/saturation.py -->\n", "<!-- end -->"
    page = PAGE.read_text(encoding="utf-8")
    section = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    PAGE.write_text(section.sub(lambda _: begin + "\n".join(lines) + "\n" + end, page), encoding="utf-8")


def main() -> None:
    """Run the pairs that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", default=PAIRS, help="METHOD@PROBLEM")
    parser.add_argument("--work", type=Path, required=True, help="folder of what is computed")
    parser.add_argument("--data", type=Path, help="folder of the data")
    parser.add_argument("--trials", type=int, default=TRIALS, help="quasi-random trials of the reference")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # trials lie beyond what algorithms advise
    for pair in arguments.pairs:
        row = compare(pair, arguments.work, resolve_directory(arguments.data), arguments.trials)
        print(f"{pair}: {row['tuned']}; reference {row['reference']}; gap {100 * row['gap']:.1f} %", flush=True)
        write([row])


if __name__ == "__main__":
    main()
