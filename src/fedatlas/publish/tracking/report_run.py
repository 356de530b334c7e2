"""The report run: an experiment's report, figures, tables, claims by verdict, warnings and data sets."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from fedatlas.experiments.metadata import TableMeta
from fedatlas.io.markdown import escape_markdown
from fedatlas.publish.report.facts import ExperimentFacts
from fedatlas.publish.report.verdicts import read_verdicts
from fedatlas.publish.report.warnings import find_warnings
from fedatlas.publish.tracking.run_record import NOTE, RunRecord, clean_tags
from fedatlas.results.claims.verdicts import HELD, MORE, NOT_TESTED

if TYPE_CHECKING:
    import pandas as pd

MAX_WARNINGS = 20
FILES = ("report.html", "table.csv", "claims.csv", "figures/*.png")


def build_report_run(
    facts: ExperimentFacts,
    directory: Path,
    table: pd.DataFrame,
    meta: TableMeta,
    tags: Mapping[str, str],
    start: int,
) -> RunRecord:
    """Return the report run of an experiment, whose duration is the training time of all runs.

    Args:
        facts: The experiment's facts.
        directory: Folder of the results, of which those that exist are taken.
        table: The experiment's table.
        meta: The table's metadata.
        tags: Tags of all runs of the experiment.
        start: Its start, in milliseconds since 1970.
    """
    files: dict[str, bytes | Path] = {
        str(path.relative_to(directory)): path for name in FILES for path in sorted(directory.glob(name))
    }
    claims = read_verdicts(directory / "claims.csv") if "claims.csv" in files else []
    tested = [row for row in claims if row["verdict"] != NOT_TESTED]
    held = sum(row["verdict"] in (HELD, MORE) for row in tested)
    note = [f"- **{row['verdict']}**: {escape_markdown(row['text'])}" for row in tested]
    if elsewhere := len(claims) - len(tested):
        note.append(f"- {elsewhere} claim{'s are' if elsewhere > 1 else ' is'} tested at other sizes only.")
    note += _warning_lines(find_warnings(facts, table.to_dict("records"), meta))
    metrics = {f"claims/{verdict}": n for verdict, n in Counter(row["verdict"] for row in claims).items()}
    metrics |= {"runs": meta.runs, "diverged runs": meta.diverged_runs}
    cards = [f"{card['title']}: {card['words']}" for card in facts.cards]
    words = {"headline": "; ".join(cards), "claims": f"held {held} of {len(tested)}" if tested else ""}
    words = {"phase": "report", NOTE: "\n".join(note)} | {key: text for key, text in words.items() if text}
    text = yaml.safe_dump(facts.content, sort_keys=False, allow_unicode=True).encode()
    return RunRecord(
        key=f"{facts.size}//report",  # no id of an algorithm is empty
        name=f"Report, figures and claims · {facts.size}",
        tags=clean_tags({**tags, **words}),
        metrics=[(name, float(value), 0, 0.0) for name, value in metrics.items()],
        data=meta.data,
        files={**files, "experiment.yaml": text},
        start=start,
        end=start + math.ceil(1000 * meta.seconds),
    )


def _warning_lines(warnings: Sequence[str]) -> list[str]:
    lines = [f"- Warning: {escape_markdown(warning)}" for warning in warnings[:MAX_WARNINGS]]
    rest = len(warnings) - MAX_WARNINGS
    return lines + ([f"- {rest} more warnings"] if rest > 0 else [])
