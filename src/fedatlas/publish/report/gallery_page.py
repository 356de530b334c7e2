"""The pages of the gallery, in Markdown: an index, a page of cards for each paper, and a page for each experiment."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.experiments.numbering import find_places
from fedatlas.io import csv
from fedatlas.io.files import write_text
from fedatlas.io.markdown import escape_markdown
from fedatlas.publish.report import cards, cards_page, changes, published_figures, tally
from fedatlas.publish.report.cards import Card, GalleryState, Notice
from fedatlas.publish.report.gallery import MARK, POINTS_FILE, DataForm, GalleryEntry, Styles, is_own_page, read_entries
from fedatlas.publish.report.headlines import PaperHeadlines
from fedatlas.publish.report.verdicts import read_claims, with_q_values
from fedatlas.results.claims.verdicts import NOT_TESTED

if TYPE_CHECKING:
    import pandas as pd

ATLAS = "The atlas's own"  # name of the group of questions that no paper asks
DIGITS = 12  # of a hash on the page; entry.json has all


@dataclass(frozen=True)
class GalleryItem:
    """An experiment of the gallery, as its file and the code are now.

    Attributes:
        name: Name of the experiment.
        size: Size.
        digests: Digests of the experiment's file, from `changes`.
        looks: Styles of the figures.
    """

    name: str
    size: str
    digests: dict[str, str]
    looks: Styles


@dataclass(frozen=True)
class _Record:
    """An entry with what the page says of it."""

    entry: GalleryEntry
    claims: "pd.DataFrame"
    outdated: list[str]

    @property
    def folder(self) -> str:
        """Address of its files for pages of the gallery."""
        return f"{self.entry.size}/{self.entry.name}"

    @property
    def group(self) -> str:
        """Name of the paper's method, or ATLAS."""
        return ATLAS if "atlas's own" in self.entry.source else self.entry.paper.short


def write_page(
    gallery: Path,
    out: Path,
    items: Sequence[GalleryItem],
    papers: Sequence[PaperHeadlines] = (),
    hours: Mapping[str, float] | None = None,
) -> None:
    """Write the index, the pages of cards and of experiments, and beside them all claims, all cards and the tally.

    Args:
        gallery: Folder of the entries; pages other than the index lie there.
        out: Path of the index.
        items: Experiments of the gallery.
        papers: Headlines of the papers.
        hours: Processor hours that experiments take at the paper's size.

    Raises:
        UserError: The gallery is empty, or has an entry of another experiment.
    """
    import pandas as pd

    records = _read_records(gallery, {(item.size, item.name): item for item in items})
    claims = pd.concat([record.claims for record in records], ignore_index=True).fillna("")
    claims = with_q_values(claims, {record.entry.name: record.group for record in records})
    csv.write(gallery / "claims.csv", claims)
    wanted = [headline.figure for paper in papers for headline in paper.headlines.values() if headline.figure]
    published = published_figures.draw(gallery, wanted)
    deck = cards.make_cards(papers, _state(gallery, records, claims, hours or {}, published))
    notices = cards.make_notices(papers, claims)
    if deck:
        cards.write_cards(gallery / cards.FILE, deck)
        tally.draw_tally(deck, gallery / "tally.svg")
    pages = {f"{name}.md": list(_experiment_page(parts, claims)) for name, parts in _by_name(records).items()}
    for paper in papers:
        own = [card for card in deck if card.paper == paper.paper]
        links = [(_short_title(parts), f"{name}.md") for name, parts in _by_name(records, paper.method).items()]
        reference = next((r.entry.paper for r in records if r.entry.paper.key == paper.paper), None)
        if reference is not None:
            pages[f"{paper.name}.md"] = list(cards_page.write_lines(reference, own, links))
    keys = {(record.entry.size, record.entry.name) for record in records}
    missing = [item for item in items if (item.size, item.name) not in keys]
    for path in gallery.glob("*.md"):
        if path.name not in pages and is_own_page(path):
            path.unlink()
    for name, lines in pages.items():
        _write(gallery / name, lines)
    _write(out, [*_index(records, papers, deck, notices, gallery.name), *_missing(missing)])


def _write(path: Path, lines: Sequence[str]) -> None:
    write_text(path, "\n".join(lines).rstrip() + f"\n\n{MARK}\n")


def _read_records(gallery: Path, items: Mapping[tuple[str, str], GalleryItem]) -> list[_Record]:
    records = []
    for entry in read_entries(gallery):
        folder = gallery / entry.size / entry.name
        if (entry.size, entry.name) not in items:
            raise UserError(f"{folder} is not in `gallery` of config/config.yaml: name it there, or remove its folder")
        claims = read_claims(folder / "claims.csv")
        records.append(_Record(entry, claims, list(_outdated(entry, items[entry.size, entry.name]))))
    if not records:
        raise UserError(f"{gallery} has no entries, and there are no results of what `gallery` in config.yaml names")
    return records


def _by_name(records: Sequence[_Record], group: str | None = None) -> dict[str, list[_Record]]:
    """Return the records of a group, or of all, by experiment; those of the largest size come first."""
    names: dict[str, list[_Record]] = {}
    for record in records:
        if group in (None, record.group):
            names.setdefault(record.entry.name, []).append(record)
    return dict(sorted(names.items()))


def _state(
    gallery: Path,
    records: Sequence[_Record],
    claims: "pd.DataFrame",
    hours: Mapping[str, float],
    published: Mapping[str, str],
) -> GalleryState:
    figures = dict(published)
    scores, points = {}, {}
    for record in reversed(records):  # of several sizes the largest stays
        name, folder = record.entry.name, gallery / record.folder
        figures |= {f"{name}/{figure}": f"{record.folder}/{figure}.png" for figure in record.entry.figures}
        scores[name] = csv.read(folder / "chosen.csv")
        if (folder / POINTS_FILE).exists():
            points[name] = csv.read(folder / POINTS_FILE)
    outdated = {
        (record.entry.size, record.entry.name): [f"{record.entry.name}: {text}" for text in record.outdated]
        for record in records
    }
    return GalleryState(claims, figures, outdated, scores, points, hours)


# -- the index


def _index(
    records: Sequence[_Record],
    papers: Sequence[PaperHeadlines],
    deck: Sequence[Card],
    notices: Sequence[Notice],
    folder: str,
) -> Iterator[str]:
    yield "# Gallery"
    yield ""
    if deck:
        counts = tally.count_words(deck)
        yield f"{len(deck)} sentences of {len(papers)} papers, quoted, each with one verdict: {counts}."
        yield "The colour is the evidence. [What a verdict means](concepts/comparing.md#what-a-verdict-means)."
        yield ""
        yield f"![{len(deck)} cards by paper: {counts}]({folder}/tally.svg)"
        yield ""
    for notice in notices:
        pages = " ".join(f"[{row['experiment']}]({folder}/{row['experiment']}.md)" for row in notice.rows[:2])
        yield f"- {escape_markdown(notice.text)} {pages}"
    lossy = {name: form.lossy for record in records for name, form in record.entry.data.items() if form.lossy}
    for name, difference in lossy.items():
        yield f"- What is on {escape_markdown(name)} was made from a lossy copy: {escape_markdown(difference)}."
    if notices or lossy:
        yield ""
    yield "| Paper | Pages of figures, tables and theorems |"
    yield "|---|---|"
    names = {paper.method: paper.name for paper in papers}
    groups = list(dict.fromkeys(record.group for record in records))
    for group in [*(name for name in groups if name != ATLAS), *(name for name in groups if name == ATLAS)]:
        title = f"[{group}: cards]({folder}/{names[group]}.md)" if group in names else escape_markdown(group)
        links = [f"[{_short_title(parts)}]({folder}/{name}.md)" for name, parts in _by_name(records, group).items()]
        yield f"| {title} | {' · '.join(links)} |"
    yield ""
    yield f"Every check with its interval is in [claims.csv]({folder}/claims.csv). `make gallery` writes these pages."
    yield ""


def _missing(items: Sequence[GalleryItem]) -> Iterator[str]:
    """Yield lines on the experiments that have no entry."""
    if items:
        yield "## Not made yet"
        yield ""
    for item in items:
        yield f"- {escape_markdown(item.name)}, size {item.size}: `{_command(item.name, item.size)}`"


# -- the page of an experiment


def _short_title(parts: Sequence[_Record]) -> str:
    """Return the places of an experiment in its paper that share the first one's noun, or its title."""
    entry = parts[0].entry
    if parts[0].group == ATLAS or not (items := find_places(entry.source)):
        return escape_markdown(entry.title)
    noun, _, _ = str(items[0]).partition(" ")
    numbers = [str(item).partition(" ")[2] for item in items if item.noun == items[0].noun]
    plural = {"Appendix": "Appendices", "Corollary": "Corollaries"}.get(noun, f"{noun}s")
    return escape_markdown(f"{plural if len(numbers) > 1 else noun} {', '.join(numbers)}")


def _experiment_page(parts: Sequence[_Record], claims: "pd.DataFrame") -> Iterator[str]:
    record = parts[0]
    titles = [f"{record.group}, {item}" for item in find_places(record.entry.source)] if record.group != ATLAS else []
    yield f"# {escape_markdown(titles[0] if titles else record.entry.title)}"
    yield ""
    if titles:
        also = f" This page is that of {'; '.join(map(escape_markdown, titles))}." if len(titles) > 1 else ""
        yield f"{escape_markdown(record.entry.title.rstrip('.'))}.{also}"
        yield ""
    for record in parts:
        if len(parts) > 1:
            yield f"## Size {record.entry.size}"
            yield ""
        own = (claims["experiment"] == record.entry.name) & (claims["size"] == record.entry.size)
        yield from _section(record, claims[own])


def _section(record: _Record, claims: "pd.DataFrame") -> Iterator[str]:
    entry = record.entry
    for number, (key, text) in enumerate(_facts(record)):
        yield f"| {key} | {text} |"
        if not number:
            yield "|---|---|"
    yield ""
    for text in record.outdated:
        yield f"> **Older than the code.** {text}"
        yield ""
    for name, caption in entry.figures.items():
        shown = find_places(caption)
        item = next((item for item in find_places(entry.source) if any(map(item.covers, shown))), None)
        if item is not None and record.group != ATLAS:
            yield f"## {escape_markdown(f'{record.group}, {item}')}"
            yield ""
        yield f"![{escape_markdown(caption)}]({record.folder}/{name}.png)"
        yield ""
        yield escape_markdown(caption)
        yield ""
    tested = claims[claims["verdict"] != NOT_TESTED]
    if len(tested):
        yield "## Checks"
        yield ""
        yield "| Claim | Paper | Here | Seeds | q | Verdict |"
        yield "|---|---|---|---|---|---|"
    for claim in tested.to_dict("records"):
        reading = f" Reading: {claim['reading'].rstrip('.')}." if claim["reading"] else ""
        dated = f"; check of {claim['changed']}, {claim['written']} results" if claim.get("changed") else ""
        text = escape_markdown(f"{claim['text']}{reading} ({claim['source']}{dated})")
        numbers = claim["paper"], escape_markdown(claim["ours"]), claim["seeds"], claim["q"]
        cells = [text, *numbers, f"**{claim['verdict']}**"]
        yield f"| {' | '.join(map(str, cells))} |"
    yield ""
    if len(claims) > len(tested):
        yield f"Not tested at this size: {len(claims) - len(tested)} more."
        yield ""


def _time(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.1f} minutes"


def _facts(record: _Record) -> Iterator[tuple[str, str]]:
    """Yield pairs (key, text): source, command, data, time, versions and machine, and links to numbers."""
    entry = record.entry
    yield "In the paper", escape_markdown(entry.source)
    yield "Command", f"`{_command(entry.name, entry.size)}`"
    yield "Data", "; ".join(_data(name, form) for name, form in entry.data.items()) or "synthetic"
    if entry.tuning:
        yield "Tuning", escape_markdown(entry.tuning)
    yield "Time", f"{entry.runs:,} runs, {_time(entry.hours)} of a processor"
    versions = ", ".join(f"{name} {version}" for name, version in entry.versions.items())
    yield "Made with", escape_markdown(f"{versions}; {' and '.join(entry.machines) or 'the processor is not recorded'}")
    prints = ", ".join(f"{id} `{value}`" for id, value in entry.fingerprints.items())
    yield "Code", prints or "its fingerprints are not recorded"
    yield "Numbers", f"[chosen values]({record.folder}/chosen.csv), [claims]({record.folder}/claims.csv)"


def _data(name: str, form: DataForm) -> str:
    """Return a data set with its title, the raw files with the beginnings of their hashes, and what differs in them."""
    text = escape_markdown(f"{name} ({form.title})" if form.title else name)
    if form.files:
        hashes = {file: f" (SHA-256 {digest[:DIGITS]}…)" if digest else "" for file, digest in form.files.items()}
        text += ", from " + ", ".join(f"`{file}`{digest}" for file, digest in hashes.items())
    return f"{text}. **A lossy copy**: {escape_markdown(form.lossy)}" if form.lossy else text


def _command(name: str, size: str) -> str:
    return f"snakemake --cores 2 {name} --config size={size}"


def _outdated(entry: GalleryEntry, item: GalleryItem) -> Iterator[str]:
    """Yield sentences on differences between an entry and the experiment's file and the code."""
    if keys := changes.changed_keys(entry.digests, item.digests):
        names = ", ".join(f"`{key}`" for key in keys)
        yield f"The experiment's file has changed since these results were made, in {names}."
    if entry.looks != item.looks:
        yield "The figures have colours or marks of an older version."
