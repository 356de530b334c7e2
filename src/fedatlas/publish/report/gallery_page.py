"""The pages of the gallery, in Markdown: an index, a page of cards for each paper, and a page for each experiment."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.experiments.metadata import versions
from fedatlas.experiments.numbering import find_places
from fedatlas.io import csv
from fedatlas.io.files import write_text
from fedatlas.io.markdown import escape_markdown
from fedatlas.publish.report import attacks, cards, cards_page, published_figures, sentences_page, tally
from fedatlas.publish.report.cards import Card, GalleryState, Notice
from fedatlas.publish.report.gallery import MARK, GalleryItem, MissingRecord, VerifiedRecord, is_own_page
from fedatlas.publish.report.headlines import LEVELS, SUBSTITUTE, PaperHeadlines
from fedatlas.publish.report.verdicts import rests_on_normal_noise, seeds_text, with_q_values
from fedatlas.results.claims.verdicts import NOT_TESTED

if TYPE_CHECKING:
    import pandas as pd

ATLAS = "The atlas's own"  # name of the group of questions that no paper asks
DIGITS = 12  # of a hash on the page
FIGURE_MARK = "<!-- figure {} -->"  # stands for a figure that the site draws, as SIZE/EXPERIMENT/FIGURE
MEANING = (
    "Here: the number with its 95 % interval. A (t) beside the seeds: the verdict takes their noise as normal. q: of a "
    "paper's verdicts with a q of at most 0.05, at most 5 % are expected to be wrong. "
    "[How claims are judged](../concepts/comparing.md#what-a-verdict-means)."
)
NO_PICTURE = "*Not shown here; the command above draws it.*"  # before its caption; the site has the figure instead


def write_page(
    gallery: Path,
    out: Path,
    items: Sequence[GalleryItem],
    papers: Sequence[PaperHeadlines] = (),
    hours: Mapping[str, float] | None = None,
    missing: Sequence[MissingRecord] = (),
    verified: Sequence[VerifiedRecord] = (),
) -> None:
    """Write the index, the pages of cards and of experiments, and beside them all claims and the tally.

    Args:
        gallery: Folder of the pictures; pages other than the index lie there.
        out: Path of the index.
        items: Experiments, at least one, those of the largest size first.
        papers: Headlines of the papers.
        hours: Processor hours that experiments take at the paper's size.
        missing: Experiments of the gallery that have no record.
        verified: What was verified of the record.
    """
    import pandas as pd

    claims = pd.concat([item.claims for item in items], ignore_index=True).fillna("")
    claims = with_q_values(claims, {item.facts.name: _group(item) for item in items})
    csv.write(gallery / "claims.csv", claims)
    wanted = [headline.figure for paper in papers for headline in paper.headlines.values() if headline.figure]
    published = published_figures.draw(gallery, wanted)
    deck = cards.make_cards(papers, _state(gallery, items, claims, missing, hours or {}, published))
    notices = cards.make_notices(papers, claims.to_dict("records"))
    if deck:
        tally.draw_tally(deck, gallery / "tally.svg")
    found = attacks.read(gallery)
    pages = {
        f"{name}.md": [*_experiment_page(parts, claims, gallery, papers), *attacks.page_lines(name, found)]
        for name, parts in _by_name(items).items()
    }
    pages["verified.md"] = list(_verified_page(verified))
    for paper in papers:
        paper_cards = [card for card in deck if card.paper == paper.paper]
        links = [(_short_title(parts), f"{name}.md") for name, parts in _by_name(items, paper.method).items()]
        reference = next((item.facts.paper for item in items if item.facts.paper.key == paper.paper), None)
        if reference is not None:
            pages[f"{paper.name}.md"] = list(cards_page.write_lines(reference, paper_cards, links, found))
    if any(paper.sentences for paper in papers):
        pages[sentences_page.PAGE] = list(sentences_page.write_lines(papers, deck, _by_name(items)))
    for path in gallery.glob("*.md"):
        if path.name not in pages and is_own_page(path):
            path.unlink()
    for name, lines in pages.items():
        _write(gallery / name, lines)
    _write(out, [*_index(items, papers, deck, notices, claims, gallery.name), *_missing(missing)])


def _write(path: Path, lines: Sequence[str]) -> None:
    write_text(path, "\n".join(lines).rstrip() + f"\n\n{MARK}\n")


def _group(item: GalleryItem) -> str:
    """Return the name of the paper's method, or ATLAS."""
    return ATLAS if "atlas's own" in item.facts.source else item.facts.paper.short


def _by_name(items: Sequence[GalleryItem], group: str | None = None) -> dict[str, list[GalleryItem]]:
    """Return the items of a group, or of all, by experiment; those of the largest size come first."""
    names: dict[str, list[GalleryItem]] = {}
    for item in items:
        if group in (None, _group(item)):
            names.setdefault(item.facts.name, []).append(item)
    return dict(sorted(names.items()))


def _picture(gallery: Path, item: GalleryItem, figure: str) -> str:
    """Return the address of the picture of a figure, or nothing if the gallery has none."""
    address = f"{item.folder}/{figure}.png"
    return address if (gallery / address).exists() else ""


def _state(
    gallery: Path,
    items: Sequence[GalleryItem],
    claims: "pd.DataFrame",
    missing: Sequence[MissingRecord],
    hours: Mapping[str, float],
    published: Mapping[str, str],
) -> GalleryState:
    figures = dict(published)
    scores, points = {}, {}
    for item in reversed(items):  # of several sizes the largest stays
        name = item.facts.name
        figures |= {f"{name}/{figure}": _picture(gallery, item, figure) for figure in item.facts.figures}
        scores[name] = item.scores
        if (beside := item.points) is not None:
            points[name] = beside
    unrecorded = {experiment.name for experiment in missing} - {item.facts.name for item in items}
    return GalleryState(claims.to_dict("records"), figures, unrecorded, scores, points, hours)


# -- the index


def _index(
    items: Sequence[GalleryItem],
    papers: Sequence[PaperHeadlines],
    deck: Sequence[Card],
    notices: Sequence[Notice],
    claims: "pd.DataFrame",
    folder: str,
) -> Iterator[str]:
    yield "# Gallery"
    yield ""
    if deck:
        counts = tally.count_words(deck)
        yield f"{len(deck)} sentences of {len(papers)} papers, quoted, each with one verdict: {counts}."
        normal = sum(map(rests_on_normal_noise, claims.to_dict("records")))
        yield (
            "The colour is the evidence; beside a verdict stand the signs of its parts. "
            "[What a verdict means](concepts/comparing.md#what-a-verdict-means). "
            f"A card with (t) rests on normal noise, as do the verdicts of {normal} of the {len(claims)} claims: they "
            "have [too few seeds](concepts/comparing.md#noise-that-is-not-normal) for an exact interval."
        )
        yield ""
        yield f"![{len(deck)} cards by paper: {counts}]({folder}/tally.svg)"
        yield ""
    for notice in notices:
        pages = " ".join(f"[{row['experiment']}]({folder}/{row['experiment']}.md)" for row in notice.rows[:2])
        yield f"- {escape_markdown(notice.text)} {pages}"
    lossy = {name: data["lossy"] for item in items for name, data in item.meta.data.items() if data.get("lossy")}
    for name, difference in lossy.items():
        yield f"- What is on {escape_markdown(name)} was made from a lossy copy: {escape_markdown(difference)}."
    if notices or lossy:
        yield ""
    yield "| Paper | Pages of figures, tables and theorems |"
    yield "|---|---|"
    names = {paper.method: paper.name for paper in papers}
    groups = list(dict.fromkeys(map(_group, items)))
    for group in [*(name for name in groups if name != ATLAS), *(name for name in groups if name == ATLAS)]:
        title = f"[{group}: cards]({folder}/{names[group]}.md)" if group in names else escape_markdown(group)
        links = [f"[{_short_title(parts)}]({folder}/{name}.md)" for name, parts in _by_name(items, group).items()]
        yield f"| {title} | {' · '.join(links)} |"
    yield ""
    if any(paper.sentences for paper in papers):
        yield f"Which sentence is tested by which card says [a page of its own]({folder}/{sentences_page.PAGE})."
        yield ""
    yield (
        f"Every check with its interval is in [claims.csv]({folder}/claims.csv). Results come from "
        f"[the record](how-to/record.md); [a page]({folder}/verified.md) says what was verified where. `make gallery` "
        "writes these pages."
    )
    yield ""


def _missing(missing: Sequence[MissingRecord]) -> Iterator[str]:
    """Yield lines on the experiments that have no record."""
    if not missing:
        return
    yield "## Not in the record"
    yield ""
    yield (
        "These experiments have no page and no verdicts until somebody computes them. `fedatlas record missing` prints "
        "the commands."
    )
    yield ""
    yield "| Experiment | Size | Time of a processor |"
    yield "|---|---|---|"
    for entry in missing:
        time = "unknown" if entry.hours is None else _time(entry.hours)
        yield f"| {escape_markdown(entry.name)} | {entry.size} | {time} |"


def _verified_page(records: Sequence[VerifiedRecord]) -> Iterator[str]:
    yield "# What was verified where"
    yield ""
    yield (
        "Runs of [the record](../how-to/record.md), drawn at random and computed again. Each cell, with its versions "
        "of packages, has rows in *record/verified.csv*."
    )
    yield ""
    yield "| Experiment | Size | Result | Processors | Last |"
    yield "|---|---|---|---|---|"
    for record in records:
        cells = (record.name, record.size, record.meaning, ", ".join(record.processors), ", ".join(record.dates))
        yield f"| {' | '.join(map(escape_markdown, cells))} |"
    yield ""


# -- the page of an experiment


def _short_title(parts: Sequence[GalleryItem]) -> str:
    """Return the places of an experiment in its paper that share the first one's noun, or its title."""
    facts = parts[0].facts
    if _group(parts[0]) == ATLAS or not (items := find_places(facts.source)):
        return escape_markdown(facts.title)
    noun, _, _ = str(items[0]).partition(" ")
    numbers = [str(item).partition(" ")[2] for item in items if item.noun == items[0].noun]
    plural = {"Appendix": "Appendices", "Corollary": "Corollaries"}.get(noun, f"{noun}s")
    return escape_markdown(f"{plural if len(numbers) > 1 else noun} {', '.join(numbers)}")


def _experiment_page(
    parts: Sequence[GalleryItem], claims: "pd.DataFrame", gallery: Path, papers: Sequence[PaperHeadlines]
) -> Iterator[str]:
    item = parts[0]
    group = _group(item)
    titles = [f"{group}, {place}" for place in find_places(item.facts.source)] if group != ATLAS else []
    yield f"# {escape_markdown(titles[0] if titles else item.facts.title)}"
    yield ""
    if titles:
        also = f" This page is that of {'; '.join(map(escape_markdown, titles))}." if len(titles) > 1 else ""
        yield f"{escape_markdown(item.facts.title.rstrip('.'))}.{also}"
        yield ""
    for item in parts:
        if len(parts) > 1:
            yield f"## Size {item.facts.size}"
            yield ""
        mask = (claims["experiment"] == item.facts.name) & (claims["size"] == item.facts.size)
        yield from _section(item, claims[mask], gallery, papers)


def _section(
    item: GalleryItem, claims: "pd.DataFrame", gallery: Path, papers: Sequence[PaperHeadlines]
) -> Iterator[str]:
    facts, group = item.facts, _group(item)
    for number, (key, text) in enumerate(_facts(item, papers)):
        yield f"| {key} | {text} |"
        if not number:
            yield "|---|---|"
    yield ""
    for name, caption in facts.figures.items():
        shown = find_places(caption)
        place = next((place for place in find_places(facts.source) if any(map(place.covers, shown))), None)
        if place is not None and group != ATLAS:
            yield f"## {escape_markdown(f'{group}, {place}')}"
            yield ""
        picture = _picture(gallery, item, name)
        yield f"![{escape_markdown(caption)}]({picture})" if picture else FIGURE_MARK.format(f"{item.folder}/{name}")
        yield ""
        yield f"{'' if picture else f'{NO_PICTURE} '}{escape_markdown(caption)}"
        yield ""
    tested = claims[claims["verdict"] != NOT_TESTED]
    if len(tested):
        yield "## Checks"
        yield ""
        if any(tested["q"]):
            yield MEANING
            yield ""
        yield "| Claim | Paper | Here | Seeds | q | Verdict |"
        yield "|---|---|---|---|---|---|"
    for claim in tested.to_dict("records"):
        reading = f" Reading: {claim['reading'].rstrip('.')}." if claim["reading"] else ""
        text = escape_markdown(f"{claim['text']}{reading} ({claim['source']})")
        here = claim["ours"] or claim["note"]  # where nothing was compared, the reason
        numbers = claim["paper"], escape_markdown(here), seeds_text(claim), claim["q"]
        cells = [text, *numbers, f"**{claim['verdict']}**"]
        yield f"| {' | '.join(map(str, cells))} |"
    yield ""
    if len(claims) > len(tested):
        yield f"Not tested at this size: {len(claims) - len(tested)} more."
        yield ""


def _time(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.1f} minutes"


def _evidence(item: GalleryItem, papers: Sequence[PaperHeadlines]) -> str:
    """Return the weakest level of evidence of the headlines that rest on an experiment at its size; may be empty."""
    name, size = item.facts.name, item.facts.size
    headlines = [
        headline
        for paper in papers
        for headline in paper.headlines.values()
        if size in headline.evidence and any(claim.partition("/")[0] == name for claim in headline.claims)
    ]
    if not headlines:
        return ""
    weakest = max(headlines, key=lambda headline: list(LEVELS).index(headline.evidence[size]))
    level = weakest.evidence[size]
    stands_in = f": {weakest.substitute}. Its verdicts do not test the paper's sentences" if level == SUBSTITUTE else ""
    return f"{LEVELS[level]}{stands_in}"


def _facts(item: GalleryItem, papers: Sequence[PaperHeadlines]) -> Iterator[tuple[str, str]]:
    """Yield pairs (key, text): source, evidence, command, data, time, versions, machine, who has verified numbers."""
    facts, meta = item.facts, item.meta
    machines = sorted({environment["machine"] for environment in meta.environments if "machine" in environment})
    yield "In the paper", escape_markdown(facts.source)
    if evidence := _evidence(item, papers):
        yield "Evidence", escape_markdown(evidence)
    yield "Command", f"`{_command(facts.name, facts.size)}`"
    yield "Data", "; ".join(_data(name, provenance) for name, provenance in meta.data.items()) or "synthetic"
    yield "Tuning", escape_markdown(facts.tuning)
    yield "Time", f"{meta.runs:,} runs, {_time(meta.seconds / 3600)} of a processor"
    made = ", ".join(f"{name} {version}" for name, version in versions(meta.environments).items())
    yield "Made with", escape_markdown(f"{made}; {' and '.join(machines) or 'the processor is not recorded'}")
    yield "Code", ", ".join(f"{id} `{value}`" for id, value in meta.fingerprints.items())
    yield "Numbers", f"in the record, without computing: `fedatlas record export {facts.name} --size {facts.size}`"
    yield "Verified", escape_markdown("; ".join(item.verified) or "by nobody yet")


def _data(name: str, provenance: Mapping[str, Any]) -> str:
    """Return a data set with its title, the raw files with the beginnings of their hashes, and what differs in them.

    Args:
        name: Name of the data set.
        provenance: Its provenance; see `fedatlas.data.dataset.Dataset`.
    """
    title = provenance.get("title")
    text = escape_markdown(f"{name} ({title})" if title else name)
    if files := provenance.get("files"):
        hashes = {file["name"]: f" (SHA-256 {file['sha256'][:DIGITS]}…)" if file["sha256"] else "" for file in files}
        text += ", from " + ", ".join(f"`{file}`{digest}" for file, digest in hashes.items())
    lossy = provenance.get("lossy")
    return f"{text}. **A lossy copy**: {escape_markdown(lossy)}" if lossy else text


def _command(name: str, size: str) -> str:
    return f"snakemake --cores 2 {name} --config size={size}"
