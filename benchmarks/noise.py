"""How ratios scatter over seeds: skewness and outliers of the logarithms that the claims of the atlas compare.

Read are the record and folders of results; experiments that are named run at smoke size with many seeds. Each
comparison of each claim with 15 seeds or more gives the logarithms of its ratios by seed, or the differences where a
claim is about them. Written are a table, ``noise.csv``, with a row for each, and a figure, ``noise.png``.

    python benchmarks/noise.py fedawe_nonstationary asynchrony --seeds 30
"""

import argparse
import dataclasses
import math
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from fedatlas.errors import UserError
from fedatlas.experiments import expansion, tables
from fedatlas.experiments.result_files import read
from fedatlas.experiments.run import run_cell
from fedatlas.results.claims import build
from fedatlas.results.claims.base import ContestCheck
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested
from fedatlas.workflow.record_numbers import layout
from fedatlas.workflow.record_results import record_tables
from fedatlas.workflow.records import record_paths
from fedatlas.workflow.study import Study

LEAST = 15  # seeds of a comparison that counts
FAR = 5  # robust standard deviations from the median, beyond which a ratio is an outlier


def compute(study: Study, name: str, seeds: int, folder: Path, data: Path) -> Results:
    """Return the results of an experiment at smoke size with so many seeds."""
    experiment = dataclasses.replace(study.files.load(name, "smoke"), seeds=list(range(seeds)))
    expanded = expansion.expand(experiment)
    paths = []
    for number, cell in enumerate(expanded.cells):
        path = folder / cell.id / f"{number}.parquet"
        run_cell(cell.spec, path, data)
        paths.append(path)
    parts = tables.build(layout(study, "smoke", name), paths)
    view = dataclasses.replace(expansion.create_view(experiment, expanded.undefined), looks=[])
    return Results(view, parts.table, parts.curves, parts.trials)


def read_results(study: Study, size: str, name: str, folder: Path) -> Results | None:
    """Return the results of an experiment that lie in a folder, or None where there are none."""
    paths = [folder / size / name / f"{part}.parquet" for part in ("table", "curves", "trials")]
    if not all(path.exists() for path in paths):
        return None
    return Results(study.view(size, name), *(read(path)[0] for path in paths))


def recorded(study: Study, size: str, name: str) -> Results:
    """Return the results of an experiment from the record."""
    parts = record_tables(study, name, size)
    return Results(study.view(size, name), parts.table, parts.curves, parts.trials)


def compare(name: str, claims: dict, results: Results) -> Iterator[dict]:
    """Yield a row for each comparison of the claims."""
    seen = set()
    for check in (build(claim.check) for claim in claims.values()):
        if not isinstance(check, ContestCheck):
            continue
        metric = getattr(check, "metric", None)
        by = getattr(check, "by", None) is not None
        try:
            scores = lambda id: results.samples(id, check.where, metric, None)  # noqa: B023, E731
            contests = list(check.contests(results, scores, metric))
        except (NotTested, UserError):
            continue
        for rival, point, pairs, _ in contests:
            key = (frozenset((check.algorithm, rival)), point, metric, by)
            if key in seen or len(pairs) < LEAST:
                continue
            seen.add(key)
            ours, theirs = np.array(pairs, float).T
            usable = np.isfinite(ours) & np.isfinite(theirs) & ((ours > 0) & (theirs > 0) | by)
            values = (ours - theirs if by else np.log(np.where(usable, theirs, 1) / np.where(usable, ours, 1)))[usable]
            failed = float(1 - usable.mean())
            if len(values) < LEAST or np.ptp(values) <= 1e-12:
                continue
            yield (
                {"experiment": name, "algorithm": check.algorithm, "than": rival, "at": results.label(point)}
                | shape(values)
                | {"failed": failed}
            )


def shape(values: np.ndarray) -> dict:
    """Return numbers on the shape of a sample."""
    middle = np.median(values)
    width = 1.4826 * np.median(np.abs(values - middle))
    far = float(np.mean(np.abs(values - middle) > FAR * width)) if width else math.nan
    return {
        "seeds": len(values),
        "deviation": float(values.std(ddof=1)),
        "skewness": float(stats.skew(values)),
        "kurtosis": float(stats.kurtosis(values)),
        "far": far,
        "normal_p": float(stats.shapiro(values).pvalue),
    }


def draw(frame: pd.DataFrame, path: Path) -> None:
    """Draw skewness against kurtosis, with the curves of named distributions."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.2, 3.6), layout="constrained")
    ax = figure.subplots()
    for far, part in frame.groupby(frame["far"] > 0):
        label = "with outliers" if far else "without outliers"
        ax.scatter(part["skewness"], part["kurtosis"], s=12, alpha=0.6, label=f"{label} ({len(part)})")
    for label, at in {"normal": (0, 0), "gamma, shape 1/2": (2.83, 12), "exponential": (2, 6)}.items():
        ax.annotate(label, at, xytext=(4, 4), textcoords="offset points", fontsize=8)
        ax.plot(*at, marker="x", color="black")
    ax.set(xlabel="skewness of the log ratios over seeds", ylabel="excess kurtosis")
    ax.set_yscale("symlog", linthresh=2)
    ax.legend(fontsize=8)
    figure.savefig(path, dpi=130)


def sources(study: Study, chosen: argparse.Namespace) -> Iterator[tuple[str, str, Results]]:
    """Yield size, name and results of the experiments that are asked for, and of those of the gallery that lie here."""
    for name in chosen.names:
        with tempfile.TemporaryDirectory() as folder:
            yield "smoke", name, compute(study, name, chosen.seeds, Path(folder), chosen.data)
    held = record_paths(study)
    for size, name in study.gallery():
        results = next(filter(None, (read_results(study, size, name, folder) for folder in chosen.results)), None)
        if results is not None:
            yield size, name, results
        elif (size, name) in held:
            try:
                yield size, name, recorded(study, size, name)
            except UserError as error:
                print(f"{name}: {error}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write table and figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[], help="experiments that run, without a computed optimum")
    parser.add_argument("--results", type=Path, nargs="*", default=[], help="folders of results that are read")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--out", type=Path, default=Path("docs/concepts"))
    parser.add_argument("--data", type=Path, default=Path("data"))
    chosen, study, rows = parser.parse_args(arguments), Study.open(), []
    for size, name, results in sources(study, chosen):
        found = list(compare(name, study.files.load(name, size).claims, results))
        rows += found
        print(f"{name} (size {size}): {len(found)} comparisons", flush=True)
    frame = pd.DataFrame(rows).round(4)
    if frame.empty:
        raise SystemExit("no claim of these results has as many seeds: name experiments that run")
    frame.to_csv(chosen.out / "noise.csv", index=False)
    draw(frame, chosen.out / "noise.png")
    words = frame[["skewness", "kurtosis", "far", "failed"]].describe(percentiles=[0.05, 0.25, 0.5, 0.75, 0.95])
    print(
        words.round(3),
        (frame["normal_p"] < 0.05).mean(),
        (frame["skewness"].abs() > 1).mean(),
        (frame["far"] > 0).mean(),
    )


if __name__ == "__main__":
    main()
