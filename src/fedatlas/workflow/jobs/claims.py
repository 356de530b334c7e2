"""Claims of an experiment: their verdicts, as a table."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments.labels import SIMULATED
from fedatlas.experiments.result_files import read
from fedatlas.experiments.view import Claim, ExperimentView, TableMeta
from fedatlas.io.formats import write_csv
from fedatlas.results.claims import CHECKS, Check
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import COLUMNS, HELD, MORE, NOT_TESTED, UNDECIDED, VACUOUS, NotTested
from fedatlas.results.comparing.intervals import several_analyses
from fedatlas.theory import NotCovered
from fedatlas.workflow import inputs

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, str | float]


def make(spec: dict[str, Any], folder: str, out: str, directory: str | None = None) -> None:
    """Judge claims and write the verdicts as CSV.

    Args:
        spec: ``view``, ``claims`` and ``inputs``.
        folder: Folder of table.parquet, curves.parquet and trials.parquet.
        out: Path of the file.
        directory: Folder of the prepared data.
    """
    table, plain = read(Path(folder) / "table.parquet")
    curves, trials = (read(Path(folder) / f"{name}.parquet")[0] for name in ("curves", "trials"))
    view, classes = ExperimentView.from_dict(spec["view"]), count_classes(TableMeta.from_dict(plain))
    write_csv(out, judge(spec, Results(view, table, curves, trials, classes), folder, directory))


def count_classes(meta: TableMeta) -> dict[str, int]:
    """Return the number of classes by data set, 0 where there are none."""
    return {name: int(entry.get("classes") or 0) for name, entry in meta.data.items()}


def judge(
    spec: dict[str, Any], results: Results, folder: str, directory: str | None = None, last: int | None = None
) -> "pd.DataFrame":
    """Return the verdicts on the claims of an experiment.

    Args:
        spec: ``claims`` and ``inputs``.
        results: The experiment's results.
        folder: Folder of the results, in which the run files lie.
        directory: Folder of the prepared data.
        last: Number of seeds at the last interim analysis; by default that of the experiment.
    """

    def results_for(check: Check) -> Results:
        if SIMULATED not in check.inputs:
            return results
        result_tables = inputs.ResultTables(results.table, results.curves, Path(folder))
        arguments = inputs.build(check, results.view, spec["inputs"], result_tables, directory)
        return dataclasses.replace(results, curves=arguments["curves"])

    claims = {name: Claim(**claim) for name, claim in spec["claims"].items()}
    return judge_claims(claims, results, results_for, last)


def judge_claims(
    claims: Mapping[str, Claim],
    results: Results,
    results_for: Callable[[Check], Results] | None = None,
    last: int | None = None,
) -> "pd.DataFrame":
    """Return the verdicts on all claims of an experiment.

    Where the experiment has interim analyses, a claim is judged at one after the other, on the seeds of the analysis
    alone, until it is decided. So seeds that another claim asked for do not change its verdict.

    Args:
        claims: The claims by name.
        results: The results of the experiment.
        results_for: Function that returns the results for a check, where some checks need additional columns; by
            default ``results`` are used.
        last: Number of seeds at the last interim analysis; by default that of the experiment's last analysis.

    Returns:
        A DataFrame with COLUMNS and a row for each claim.

    Raises:
        UserError: If a check does not fit the results; the text has experiment and claim.
    """
    import pandas as pd

    view, rows = results.view, []
    for name, claim in claims.items():
        try:
            rows.append(_row_at_analyses(results, name, claim, results_for or (lambda _: results), last))
        except UserError as error:
            raise UserError(f"{view.name} (size {view.size}): claims.{name}.check: {error}") from None
    return pd.DataFrame(rows, columns=COLUMNS)


def _row_at_analyses(
    results: Results, name: str, claim: Claim, results_for: Callable[[Check], Results], last: int | None
) -> Row:
    """Return the row of a claim at the first interim analysis that decides it, or at the last."""
    analyses = results.view.analyses
    counts = [count for count in analyses if last is None or count <= last]
    if not counts or CHECKS.build(claim.check).tunes:
        return _row(results, name, claim, results_for)
    count, row = judge_until_decided(
        counts,
        len(analyses),
        lambda count: _row(results, name, claim, lambda check: results_for(check).at_analysis(count)),
    )
    used = int(row["seeds"] or count)  # an entry may have fewer seeds, all at the first interim analysis
    if row["verdict"] == UNDECIDED:
        fewer = ", all that there are" if used < count else ""
        ending = ", the most that are allowed" if used == analyses[-1] else fewer
        sentence = f"Undecided after {used} seeds{ending}."
    elif row["low"] in ("", row["high"]):  # no interval over seeds decides it
        return row
    else:
        sentence = (
            f"Decided after {used} seeds, by intervals that hold at all {len(analyses)} interim analyses together."
        )
    p = row["p"] if isinstance(row["p"], str) else min(1.0, len(analyses) * row["p"])
    return row | {"p": p, "note": _join(sentence, str(row["note"]))}


def judge_until_decided(counts: Sequence[int], analyses: int, judge: Callable[[int], Row]) -> tuple[int, Row]:
    """Return the number of seeds at which a claim is decided, or the last one, and its row there.

    Args:
        counts: Numbers of seeds of the interim analyses so far, ascending.
        analyses: Number of all interim analyses that there may be, by which the level of each is divided.
        judge: Judges a claim on so many seeds.
    """
    for count in counts:
        with several_analyses(analyses):
            row = judge(count)
        if row["verdict"] != UNDECIDED:
            break
    return count, row


def _row(results: Results, name: str, claim: Claim, results_for: Callable[[Check], Results]) -> Row:
    check, note = CHECKS.build(claim.check), claim.note or ""
    row: Row = dict.fromkeys(COLUMNS, "")
    row |= {
        "experiment": results.view.name,
        "size": results.view.size,
        "claim": name,
        "text": _join(claim.text),
        "interpretation": claim.interpretation or "",
        "source": claim.source,
        "paper": check.paper_text(results),
        "verdict": NOT_TESTED,
        "note": _join(note),
    }
    if not claim.tested_at(results.view.size):
        return row
    try:
        outcome = check.judge(results_for(check))
        vacuity_check = CHECKS.build(claim.vacuous) if claim.vacuous is not None else None
        vacuity = vacuity_check and vacuity_check.judge(results_for(vacuity_check))
    except (NotTested, NotCovered) as reason:
        return row | {"note": _join(f"{str(reason)[:1].upper()}{str(reason)[1:]}.", note)}
    numbers = {key: getattr(outcome, key) for key in ("value", "low", "high", "seeds", "p")}
    row |= {key: "" if number is None else number for key, number in numbers.items()}
    row |= {"ours": outcome.text, "verdict": outcome.verdict, "note": _join(outcome.note, note)}
    if vacuity and vacuity.verdict in (HELD, MORE):
        empty = f"Nothing is compared: {vacuity.text}."
        row |= {"verdict": VACUOUS, "note": _join(empty, outcome.note, note)}
    return row


def _join(*notes: str) -> str:
    return " ".join(" ".join(notes).split())
