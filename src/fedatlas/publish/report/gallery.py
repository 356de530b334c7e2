"""The gallery: figures, tables and verdicts that are committed with the project, and the page that shows them.

An entry is a folder ``SIZE/EXPERIMENT`` with the experiment's figures, its claims, the values that were chosen and what
the page says of it. Entries of other experiments stay when one is made again. An entry also holds digests of what was
run, and the colours of its figures. So the page can say that the experiment's file or the colours have changed since.
"""

import dataclasses
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.experiments.metadata import TableMeta
from fedatlas.experiments.result_files import machine_name, read
from fedatlas.io import csv
from fedatlas.io.files import atomic
from fedatlas.io.markdown import escape_markdown
from fedatlas.publish.report import changes, tally
from fedatlas.publish.report.images import shrunk
from fedatlas.publish.report.record import RECORD_FILE, ExperimentRecord
from fedatlas.publish.report.verdicts import SIZES, largest
from fedatlas.registry.bibliography import Reference
from fedatlas.results.claims.verdicts import NOT_TESTED
from fedatlas.results.figures import style

if TYPE_CHECKING:
    import pandas as pd

ENTRY = "entry.json"
CHOSEN = ("score", "score_sd", "seeds", "diverged", "rounds", "vectors_up", "vectors_down", "gradients", "samples")


Looks = dict[str, str]  # colour, marker and line, by id of the algorithm


@dataclass(frozen=True)
class Entry:
    """What the page says of an experiment.

    runs: their count. hours: of a processor, for the training of all runs. data: titles by name. versions: of packages.
    machines: that the runs were made on, as far as that is recorded. digests: of what was run, as of `changes`. looks:
    that the figures were drawn with; empty if they were not drawn when the entry was made.
    """

    name: str
    size: str
    title: str
    source: str
    paper: Reference
    figures: dict[str, str]
    runs: int
    hours: float
    data: dict[str, str]
    versions: dict[str, str]
    machines: list[str]
    digests: dict[str, str]
    looks: Looks


@dataclass(frozen=True)
class GalleryItem:
    """An experiment that the gallery is to show, as its file and the code are. digests, looks: as of an `Entry`."""

    name: str
    size: str
    digests: dict[str, str]
    looks: Looks


def describe_styles(algorithms: Mapping[str, str]) -> Looks:
    """How the code draws the algorithms of an experiment. algorithms: names by id."""
    return {id: f"{look.colour} {look.marker} {look.line}" for id, look in style.styles(algorithms).items()}


def write_entry(folder: Path, gallery: Path, drawn: Mapping[str, Path]) -> None:
    """Make the entry of an experiment, in place of an older one.

    folder: of the experiment's results. gallery: folder of all entries. drawn: figures as PNG that the code drew; those
    that are not among them are taken from the results. Raises UserError if results are missing.
    """
    about = ExperimentRecord.read(folder / RECORD_FILE)
    table, plain = read(folder / "table.parquet")
    place = gallery / about.size / about.name
    figures = {name: drawn.get(name, folder / f"figures/{name}.png") for name in about.figures}
    for path in [*figures.values(), folder / "claims.csv"]:
        if not path.exists():
            raise UserError(f"{path} does not exist: make the results again")
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for name, path in figures.items():
        (place / f"{name}.png").write_bytes(shrunk(path))
    shutil.copyfile(folder / "claims.csv", place / "claims.csv")
    chosen = table[table["chosen"]]
    columns = ["algorithm", *about.axes, *(name for name in about.tune if name in chosen)]
    columns += [name for name in CHOSEN if name in chosen and name not in columns]
    csv.write(place / "chosen.csv", chosen[columns])
    made = TableMeta.of(plain)
    names = {id: one.get("algorithm") or id for id, one in about.content["algorithms"].items()}
    entry = Entry(
        name=about.name,
        size=about.size,
        title=about.title,
        source=about.source,
        paper=about.paper,
        figures=about.figures,
        runs=made.runs,
        hours=made.seconds / 3600,
        data={name: one.get("title", "") for name, one in made.data.items()},
        versions=made.versions,
        machines=sorted({machine for path in folder.glob("runs/*/*.parquet") if (machine := machine_name(path))}),
        digests=changes.digests(about.content),
        looks=describe_styles(names) if set(drawn) >= set(figures) else {},
    )
    with atomic(place / ENTRY) as temporary:
        temporary.write_text(json.dumps(dataclasses.asdict(entry), indent=1, ensure_ascii=False) + "\n")


def write_page(gallery: Path, out: Path, listed: Sequence[GalleryItem]) -> None:
    """Write the page over all entries, and beside the entries their claims and the tally of verdicts.

    gallery: folder of the entries. out: path of the page, in Markdown. listed: all that the gallery is to show. Raises
    UserError if there is an entry of something else.
    """
    import pandas as pd

    known = {(one.size, one.name): one for one in listed}
    entries = list(_entries(gallery))
    for entry in entries:
        if (entry.size, entry.name) not in known:
            where = gallery / entry.size / entry.name
            raise UserError(f"{where} is not in `gallery` of config/config.yaml: name it there, or remove its folder")
    if not entries:
        raise UserError(f"{gallery} has no entries, and there are no results of what `gallery` in config.yaml names")
    found = [(entry, _claims(gallery / entry.size / entry.name / "claims.csv")) for entry in entries]
    ledger = pd.concat([claims for _, claims in found], ignore_index=True)
    csv.write(gallery / "claims.csv", ledger)
    papers = {entry.name: entry.paper for entry in entries}
    tally.draw(ledger, {name: f"{paper.short} ({paper.year})" for name, paper in papers.items()}, gallery / "tally.svg")
    lines = [*_head(ledger, gallery.name)]
    for paper in dict.fromkeys(entry.paper for entry in entries):
        lines += [
            f"## {escape_markdown(paper.title)}",
            "",
            f"{escape_markdown(paper.authors)}, {escape_markdown(paper.venue)}, {paper.year}.",
            "",
        ]
        for entry, claims in found:
            if entry.paper == paper:
                folder = f"{gallery.name}/{entry.size}/{entry.name}"
                lines += _section(entry, known[entry.size, entry.name], claims, folder)
    made = {(entry.size, entry.name) for entry in entries}
    lines += _missing([one for place, one in known.items() if place not in made])
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
    return csv.read(path, dtype=str, keep_default_na=False)


def _head(ledger: "pd.DataFrame", folder: str) -> list[str]:
    counts = largest(ledger)["verdict"].value_counts()
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in tally.ORDER if verdict in counts)
    return [
        "# Gallery",
        "",
        "What the workflow made, at the sizes that are named. `make gallery` writes this page and its figures.",
        f"Every verdict with its interval is in [{folder}/claims.csv]({folder}/claims.csv). The",
        "[guide to experiment files](../config/experiments/README.md#claims) says what the verdicts mean.",
        "",
        f"Of {counts.sum()} claims, each at the largest size that tests it: {told}.",
        "",
        f"![Verdicts by paper]({folder}/tally.svg)",
        "",
    ]


def _section(entry: Entry, now: GalleryItem, claims: "pd.DataFrame", folder: str) -> Iterator[str]:
    yield f"### {escape_markdown(entry.title)}"
    yield ""
    for number, (what, text) in enumerate(_facts(entry, folder)):
        yield f"| {what} | {text} |"
        if not number:
            yield "|---|---|"
    yield ""
    for text in _marks(entry, now):
        yield f"> **Older than the code.** {text}"
        yield ""
    for name, caption in entry.figures.items():
        yield f"![{escape_markdown(caption)}]({folder}/{name}.png)"
        yield ""
        yield escape_markdown(caption)
        yield ""
    tested = claims[claims["verdict"] != NOT_TESTED]
    if len(tested):
        yield "| Claim | Paper | Here | Seeds | Verdict |"
        yield "|---|---|---|---|---|"
    for claim in tested.to_dict("records"):
        reading = f" Reading: {claim['reading'].rstrip('.')}." if claim["reading"] else ""
        text = f"{claim['text']}{reading} ({claim['source']})"
        cells = [
            escape_markdown(text),
            claim["paper"],
            escape_markdown(claim["ours"]),
            claim["seeds"],
            f"**{claim['verdict']}**",
        ]
        yield f"| {' | '.join(map(str, cells))} |"
    yield ""
    if len(claims) > len(tested):
        yield f"Not tested at this size: {len(claims) - len(tested)} more."
        yield ""


def _time(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.1f} minutes"


def _facts(entry: Entry, folder: str) -> Iterator[tuple[str, str]]:
    """(what, text) lines: what it re-runs, how to make it, of which data, and how long that took where."""
    yield "In the paper", escape_markdown(entry.source)
    yield "Command", f"`{_command(entry.name, entry.size)}`"
    data = [
        f"{escape_markdown(name)} ({escape_markdown(title)})" if title else escape_markdown(name)
        for name, title in entry.data.items()
    ]
    yield "Data", ", ".join(data) or "synthetic"
    yield "Time", f"{entry.runs:,} runs, {_time(entry.hours)} of a processor"
    versions = ", ".join(f"{name} {version}" for name, version in entry.versions.items())
    yield "Made with", escape_markdown(f"{versions}; {' and '.join(entry.machines) or 'the processor is not recorded'}")
    yield "Numbers", f"[chosen values]({folder}/chosen.csv), [claims]({folder}/claims.csv)"


def _command(name: str, size: str) -> str:
    return f"snakemake --cores 2 {name} --config size={size}"


def _marks(entry: Entry, now: GalleryItem) -> Iterator[str]:
    """What of an entry differs from the experiment's file and from the code."""
    if keys := changes.changed_keys(entry.digests, now.digests):
        told = ", ".join(f"`{key}`" for key in keys)
        yield f"The experiment's file has changed since these results were made, in {told}."
    if entry.looks != now.looks:
        yield "The figures have colours or marks of an older version."


def _missing(listed: Sequence[GalleryItem]) -> Iterator[str]:
    """The experiments that have no entry."""
    if listed:
        yield "## Not made yet"
        yield ""
    for one in listed:
        yield f"- {escape_markdown(one.name)}, size {one.size}: `{_command(one.name, one.size)}`"
