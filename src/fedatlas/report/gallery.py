"""The gallery: figures, tables and verdicts that are committed with the project, and the page that shows them.

An entry is a folder ``SIZE/EXPERIMENT`` with the experiment's figures, its claims, the values that were chosen and what
the page says of it. Entries of other experiments stay when one is made again.
"""

import dataclasses
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas import csv_files
from fedatlas.bibliography import Reference
from fedatlas.checks.verdicts import NOT_TESTED
from fedatlas.errors import UserError
from fedatlas.experiments.metadata import TableMeta
from fedatlas.experiments.result_files import read
from fedatlas.files import atomic
from fedatlas.markdown import escaped
from fedatlas.report import tally
from fedatlas.report.ledger import SIZES, largest
from fedatlas.report.palette import shrunk
from fedatlas.report.record import FILE, About

if TYPE_CHECKING:
    import pandas as pd

ENTRY = "entry.json"
CHOSEN = ("score", "score_sd", "seeds", "diverged", "rounds", "vectors_up", "vectors_down", "gradients", "samples")


@dataclass(frozen=True)
class Entry:
    """What the page says of an experiment. runs: their count. hours: of a processor, for the training of all runs."""

    name: str
    size: str
    title: str
    source: str
    paper: Reference
    figures: dict[str, str]
    runs: int
    hours: float


def make(folder: Path, gallery: Path) -> None:
    """Make the entry of an experiment, in place of an older one.

    folder: of the experiment's results. gallery: folder of all entries. Raises UserError if results are missing.
    """
    about = About.read(folder / FILE)
    table, plain = read(folder / "table.parquet")
    place = gallery / about.size / about.name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name in about.figures:
        (place / f"{name}.png").write_bytes(shrunk(folder / f"figures/{name}.png"))
    shutil.copyfile(folder / "claims.csv", place / "claims.csv")
    chosen = table[table["chosen"]]
    columns = ["algorithm", *about.axes, *(name for name in about.tune if name in chosen)]
    columns += [name for name in CHOSEN if name in chosen and name not in columns]
    csv_files.write(place / "chosen.csv", chosen[columns])
    made = TableMeta.of(plain)
    entry = Entry(
        name=about.name,
        size=about.size,
        title=about.title,
        source=about.source,
        paper=about.paper,
        figures=about.figures,
        runs=made.runs,
        hours=made.seconds / 3600,
    )
    with atomic(place / ENTRY) as temporary:
        temporary.write_text(json.dumps(dataclasses.asdict(entry), indent=1, ensure_ascii=False) + "\n")


def page(gallery: Path, out: Path) -> None:
    """Write the page over all entries, and beside the entries their claims and the tally of verdicts.

    gallery: folder of the entries. out: path of the page, in Markdown.
    """
    import pandas as pd

    entries = list(_entries(gallery))
    found = [(entry, _claims(gallery / entry.size / entry.name / "claims.csv")) for entry in entries]
    ledger = pd.concat([claims for _, claims in found], ignore_index=True)
    csv_files.write(gallery / "claims.csv", ledger)
    papers = {entry.name: entry.paper for entry in entries}
    tally.draw(ledger, {name: f"{paper.short} ({paper.year})" for name, paper in papers.items()}, gallery / "tally.svg")
    lines = [*_head(ledger, gallery.name)]
    for paper in dict.fromkeys(entry.paper for entry in entries):
        lines += [
            f"## {escaped(paper.title)}",
            "",
            f"{escaped(paper.authors)}, {escaped(paper.venue)}, {paper.year}.",
            "",
        ]
        for entry, claims in found:
            if entry.paper == paper:
                lines += _section(entry, claims, f"{gallery.name}/{entry.size}/{entry.name}")
    with atomic(out) as temporary:
        temporary.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _entries(gallery: Path) -> Iterator[Entry]:
    for size in SIZES:
        for path in sorted(gallery.glob(f"{size}/*/{ENTRY}")):
            try:
                plain = json.loads(path.read_text(encoding="utf-8"))
                yield Entry(**{**plain, "paper": Reference(**plain["paper"])})
            except (OSError, ValueError, TypeError, KeyError) as error:
                raise UserError(f"{path} is no entry of the gallery ({error}): remove its folder") from None


def _claims(path: Path) -> "pd.DataFrame":
    return csv_files.read(path, dtype=str, keep_default_na=False)


def _head(ledger: "pd.DataFrame", folder: str) -> list[str]:
    counts = largest(ledger)["verdict"].value_counts()
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in tally.ORDER if verdict in counts)
    return [
        "# Gallery",
        "",
        "What the workflow made, at the sizes that are named. `snakemake gallery` makes the entries and this page.",
        f"Every verdict with its interval is in [{folder}/claims.csv]({folder}/claims.csv). The",
        "[guide to experiment files](../config/experiments/README.md#claims) says what the verdicts mean.",
        "",
        f"Of {counts.sum()} claims, each at the largest size that tests it: {told}.",
        "",
        f"![Verdicts by paper]({folder}/tally.svg)",
        "",
    ]


def _section(entry: Entry, claims: "pd.DataFrame", folder: str) -> Iterator[str]:
    yield f"### {escaped(entry.title)}"
    yield ""
    yield f"{escaped(entry.source)}. `snakemake --cores 2 {entry.name} --config size={entry.size}`:"
    yield f"{entry.runs:,} runs, {_time(entry.hours)} of a processor. [Chosen values]({folder}/chosen.csv)."
    yield ""
    for name, caption in entry.figures.items():
        yield f"![{escaped(caption)}]({folder}/{name}.png)"
        yield ""
        yield escaped(caption)
        yield ""
    tested = claims[claims["verdict"] != NOT_TESTED]
    if len(tested):
        yield "| Claim | Paper | Here | Seeds | Verdict |"
        yield "|---|---|---|---|---|"
    for claim in tested.to_dict("records"):
        reading = f" Reading: {claim['reading']}." if claim["reading"] else ""
        text = f"{claim['text']}{reading} ({claim['source']})"
        cells = [escaped(text), claim["paper"], escaped(claim["ours"]), claim["seeds"], f"**{claim['verdict']}**"]
        yield f"| {' | '.join(map(str, cells))} |"
    yield ""
    if len(claims) > len(tested):
        yield f"Not tested at this size: {len(claims) - len(tested)} more."
        yield ""


def _time(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.1f} minutes"


def shown(folders: Sequence[Any], gallery: Path, out: Path) -> None:
    """Make the entries of experiments, and the page. Arguments as of `make` and `page`."""
    for folder in folders:
        make(Path(folder), gallery)
    page(gallery, out)
