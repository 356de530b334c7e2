"""How ratios scatter over seeds: skewness and outliers of the logarithms that the claims of the atlas compare.

Read are the record and folders of results. Each number with 15 seeds or more on which a claim is judged gives a sample:
the logarithms of ratios by seed, or exponents and differences where a claim is about them. Written are a table,
``noise.csv``, with a row for each, and a figure, ``noise.png``.

    python benchmarks/noise.py --results results
"""

import argparse
import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd
from scipy import stats

from fedatlas.errors import UserError
from fedatlas.experiments.result_files import read
from fedatlas.records.lookup import record_paths
from fedatlas.records.results import record_tables
from fedatlas.results.claims import CHECKS, Check
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import NotTested
from fedatlas.results.comparing.intervals import Sample
from fedatlas.workflow.study import Study

LEAST = 15  # seeds of a sample that counts
FAR = 5  # robust standard deviations from the median, beyond which a ratio is an outlier


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
    """Yield a row for each sample over seeds on which a claim is judged: the logarithms of ratios, or other numbers."""
    seen = set()
    for key, claim in claims.items():
        for number, sample in enumerate(judged_samples(CHECKS.build(claim.check), results), 1):
            values = np.array(sample.values)
            usable = np.isfinite(values) & ((values > 0) | (not sample.log))
            values = np.log(values[usable]) if sample.log else values[usable]
            if len(values) < LEAST or np.ptp(values) <= 1e-12:
                continue
            scores = stats.zscore(values).round(6) + 0.0
            same = min(tuple(scores), tuple(-scores))  # other units, or a ratio turned round, make no other sample
            if same in seen:
                continue
            seen.add(same)
            row = {"experiment": name, "claim": key, "sample": number, "of": "mean" if sample.mean else "typical run"}
            yield row | shape(values) | {"failed": float(1 - usable.mean())}


def judged_samples(check: Check, results: Results) -> list[Sample]:
    """Return the samples whose intervals a check asks for, each once, in their order.

    Where claims were decided, runs have fewer seeds than others. Then it is the last interim analysis that all have.
    """
    for count in reversed(results.view.analyses):
        with contextlib.suppress(ValueError):
            return samples_of(check, results.at_analysis(count))
    return samples_of(check, results)


def samples_of(check: Check, results: Results) -> list[Sample]:
    """Return the samples whose intervals a check asks for of these results."""
    found: dict[Sample, None] = {}
    interval = Sample.interval

    def record(sample: Sample, level: float | None = None) -> tuple[float, float]:
        found[sample] = None
        return interval(sample, level)

    with mock.patch.object(Sample, "interval", record), contextlib.suppress(NotTested, UserError):
        check.judge(results)
    return list(found)


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
    for of, part in frame.groupby("of"):
        ax.scatter(part["skewness"], part["kurtosis"], s=12, alpha=0.6, label=f"claims on the {of} ({len(part)})")
    for label, at in {"normal": (0, 0), "gamma, shape 1/2": (2.83, 12), "exponential": (2, 6)}.items():
        ax.annotate(label, at, xytext=(-5, 5), textcoords="offset points", ha="right", fontsize=8)
        ax.plot(*at, marker="x", color="black")
    ax.set(xlabel="skewness over seeds, of log ratios, exponents and differences", ylabel="excess kurtosis")
    ax.set_yscale("symlog", linthresh=2)
    ax.legend(fontsize=8)
    figure.savefig(path, dpi=130)


def sources(study: Study, folders: Sequence[Path]) -> Iterator[tuple[str, str, Results]]:
    """Yield size, name and results of the gallery's experiments that lie in folders of results or in the record."""
    held = record_paths(study)
    for size, name in study.gallery():
        results = next(filter(None, (read_results(study, size, name, folder) for folder in folders)), None)
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
    parser.add_argument("--results", type=Path, nargs="*", default=[], help="folders of results that are read")
    parser.add_argument("--out", type=Path, default=Path("docs/concepts"))
    chosen, study, rows = parser.parse_args(arguments), Study.open(), []
    for size, name, results in sources(study, chosen.results):
        if results.table["seeds"].max() < LEAST:
            continue
        found = list(compare(name, study.files.load(name, size).claims, results))
        rows += found
        print(f"{name} (size {size}): {len(found)} samples", flush=True)
    frame = pd.DataFrame(rows).round(4)
    if frame.empty:
        raise SystemExit("no claim of these results has as many seeds")
    frame.to_csv(chosen.out / "noise.csv", index=False)
    draw(frame, chosen.out / "noise.png")
    for of, part in frame.groupby("of"):
        print(f"{len(part)} samples of the {of}, skewness {part['skewness'].min():.1f} to {part['skewness'].max():.1f}")
        for words, share in {
            "skewness beyond 1": part["skewness"].abs() > 1,
            "a seed far off": part["far"] > 0,
            "not normal at 5 %": part["normal_p"] < 0.05,
            "failures": part["failed"] > 0,
        }.items():
            print(f"  {words}: {100 * share.mean():.0f} %")


if __name__ == "__main__":
    main()
