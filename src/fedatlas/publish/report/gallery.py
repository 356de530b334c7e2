"""The pages of the gallery, in Markdown: an index, a page of cards for each paper, and a page for each experiment."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fedatlas.errors import UserError
from fedatlas.experiments import SIZES
from fedatlas.experiments.view import TableMeta
from fedatlas.io.files import read_text, write_text
from fedatlas.io.formats import escape_markdown, read_csv, write_csv
from fedatlas.publish.report.cards import (
    LEVELS,
    SIGNS,
    SUBSTITUTE,
    PaperHeadlines,
    attack_text,
    make_cards,
    rows_by_claim,
)
from fedatlas.publish.report.facts import Facts, add_q_values, rests_on_normal_noise, seeds_text, to_frame
from fedatlas.publish.report.numbering import PaperItem, find_places
from fedatlas.publish.report.page import FOLDER, create_environment, versions
from fedatlas.results.claims.verdicts import NOT_TESTED

if TYPE_CHECKING:
    from jinja2 import Environment

ATTACKS = "statements.csv"  # in the gallery: what the attack on the papers' statements found (folder statements)
MARK = "<!-- `make gallery` writes this page anew. -->"
COLUMNS = 6  # cards in a line of the tally; a paper with more takes another line
ATLAS = "The atlas's own"  # name of the group of questions that no paper asks
MEANING = (
    "Here: the number with its 95 % interval. A (t) beside the seeds: the verdict takes their noise as normal. q: of a "
    "paper's verdicts with a q of at most 0.05, at most 5 % are expected to be wrong. "
    "[How claims are judged](../concepts/comparing.md#what-a-verdict-means)."
)
NO_PICTURE = "*Not shown here; the command above draws it.*"  # before its caption; the site has the figure instead


class MissingRecord(NamedTuple):
    """An experiment of the gallery that has no record, with the processor hours that it takes, if they are known."""

    size: str
    name: str
    hours: float | None


@dataclass(frozen=True)
class GalleryItem:
    """An experiment of the gallery, with its numbers.

    Attributes:
        facts: The experiment as it is known before its runs.
        meta: Metadata of its table.
        claims: Rows of claims.csv.
        verified: Sentences on who has verified the record.
    """

    facts: Facts
    meta: TableMeta
    claims: list[dict[str, str]]
    verified: list[str]

    @property
    def name(self) -> str:
        """Name of the experiment."""
        return str(self.facts["name"])

    @property
    def folder(self) -> str:
        """Address of its pictures for pages of the gallery."""
        return f"{self.facts['size']}/{self.name}"

    @property
    def group(self) -> str:
        """The name of the paper's method, or ATLAS."""
        return ATLAS if "atlas's own" in self.facts["source"] else str(self.facts["paper"]["short"])

    @property
    def places(self) -> list[PaperItem]:
        """Its places in its paper; none for questions of the atlas's own."""
        return find_places(self.facts["source"]) if self.group != ATLAS else []


def write_pages(
    gallery: Path,
    out: Path,
    items: Sequence[GalleryItem],
    papers: Sequence[PaperHeadlines] = (),
    hours: Mapping[str, float] | None = None,
    missing: Sequence[MissingRecord] = (),
    verified: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Write the index, the pages of cards and of experiments, and beside them all claims and the tally.

    Args:
        gallery: Folder of the pictures; pages other than the index lie there.
        out: Path of the index.
        items: Experiments, at least one, each at one size.
        papers: Headlines of the papers.
        hours: Processor hours that experiments take at the paper's size.
        missing: Experiments of the gallery that have no record.
        verified: Name, size, meaning, processors and dates of what was verified of each record.
    """
    claims, groups = [row for item in items for row in item.claims], {item.name: item.group for item in items}
    add_q_values(claims, lambda row: groups[row["experiment"]])
    write_csv(gallery / "claims.csv", to_frame(claims))
    attacks = gallery / ATTACKS
    found = read_csv(attacks, dtype=str).to_dict("records") if attacks.exists() else []
    pictures = {
        f"{item.name}/{figure}": _picture(gallery, item, figure) for item in items for figure in item.facts["figures"]
    }
    unrecorded = {experiment.name for experiment in missing} - groups.keys()
    deck = make_cards(papers, claims, unrecorded, hours or {}, pictures)
    environment = create_markdown_environment()
    if deck:
        decks = [[card for card in deck if card["paper"] == paper.paper] for paper in papers]
        lines = [cards[start : start + COLUMNS] for cards in decks for start in range(0, len(cards), COLUMNS)]
        picture = environment.get_template("tally.svg").render(lines=lines, used={card["level"] for card in deck})
        write_text(gallery / "tally.svg", picture)

    def render(path: Path, template: str, **content: Any) -> Path:
        text = environment.get_template(template).render(content)
        write_text(path, f"{text.rstrip()}\n\n{MARK}\n")
        return path

    written = {render(gallery / "verified.md", "verified.md", verified=verified)}
    for item in items:
        content = _content(item, claims, gallery, papers)
        content |= {"attacked": [row for row in found if row["experiment"] == item.name]}
        written.add(render(gallery / f"{item.name}.md", "experiment.md", **content))
    for paper in papers:
        cards = [{**card, "attack": attack_text(card, found)} for card in deck if card["paper"] == paper.paper]
        references = [item.facts["paper"] for item in items if item.facts["paper"]["key"] == paper.paper]
        if references:
            links = _links(items, paper.method)
            written.add(render(gallery / f"{paper.name}.md", "cards.md", paper=references[0], cards=cards, links=links))
    sentences = "sentences.md" if any(paper.sentences for paper in papers) else ""
    if sentences:
        by_id = {card["id"]: card for card in deck}
        written.add(render(gallery / sentences, sentences, papers=papers, cards=by_id, pages=groups))
    for path in gallery.glob("*.md"):
        if path not in written and is_own_page(path):
            path.unlink()
    rows, verdicts = rows_by_claim(claims), Counter(card["verdict"] for card in deck)
    findings = [
        (finding.text, [claim.partition("/")[0] for claim in finding.claims if claim in rows][:2])
        for paper in papers
        for finding in paper.findings.values()
    ]
    order = sorted(dict.fromkeys(groups.values()), key=lambda group: group == ATLAS)
    pages = {paper.method: paper.name for paper in papers}
    render(
        out,
        "index.md",
        deck=deck,
        papers=papers,
        counts=", ".join(f"{count} {verdict}" for verdict in SIGNS if (count := verdicts[verdict])),
        normal=sum(map(rests_on_normal_noise, claims)),
        claims=claims,
        folder=gallery.name,
        findings=findings,
        lossy={name: data["lossy"] for item in items for name, data in item.meta.data.items() if data.get("lossy")},
        groups=[(group, pages.get(group), _links(items, group)) for group in order],
        sentences=sentences,
        missing=missing,
    )


def create_markdown_environment() -> "Environment":
    """Return the environment of the templates of pages in Markdown."""
    environment = create_environment(FOLDER / "markdown")
    environment.filters.update(md=escape_markdown, seeds=seeds_text, time=_time)
    environment.globals.update(signs=SIGNS, levels=LEVELS, no_picture=NO_PICTURE, meaning=MEANING, untested=NOT_TESTED)
    return environment


def _links(items: Sequence[GalleryItem], group: str) -> list[tuple[str, str]]:
    """Return words and names of the pages of a group's experiments."""
    return sorted(((_short_title(item), item.name) for item in items if item.group == group), key=lambda link: link[1])


def _content(
    item: GalleryItem, claims: Sequence[Mapping[str, str]], gallery: Path, papers: Sequence[PaperHeadlines]
) -> dict[str, Any]:
    """Return what the page of an experiment shows of it."""
    facts, environments = item.facts, item.meta.environments
    machines = sorted({environment["machine"] for environment in environments if "machine" in environment})
    made = ", ".join(f"{name} {version}" for name, version in versions(environments).items())
    return {
        "facts": facts,
        "meta": item.meta,
        "folder": item.folder,
        "verified": item.verified,
        "made": f"{made}; {' and '.join(machines) or 'the processor is not recorded'}",
        "evidence": _evidence(item, papers),
        "pictures": {name: _picture(gallery, item, name) for name in facts["figures"]},
        "titles": [f"{item.group}, {place}" for place in item.places],
        "places": {name: _place(item, caption) for name, caption in facts["figures"].items()},
        "claims": [row for row in claims if row["experiment"] == item.name],
    }


def _picture(gallery: Path, item: GalleryItem, figure: str) -> str:
    """Return the address of the picture of a figure, or nothing if the gallery has none."""
    address = f"{item.folder}/{figure}.png"
    return address if (gallery / address).exists() else ""


def _place(item: GalleryItem, caption: str) -> str:
    """Return the place in the paper of which a figure says that it shows it, or an empty text."""
    caption_places = find_places(caption)
    return next((f"{item.group}, {place}" for place in item.places if any(map(place.covers, caption_places))), "")


def _short_title(item: GalleryItem) -> str:
    """Return the places of an experiment in its paper that share the first one's noun, or its title."""
    if not item.places:
        return escape_markdown(item.facts["title"])
    noun, _, _ = str(item.places[0]).partition(" ")
    numbers = [str(place).partition(" ")[2] for place in item.places if place.noun == item.places[0].noun]
    plural = {"Appendix": "Appendices", "Corollary": "Corollaries"}.get(noun, f"{noun}s")
    return escape_markdown(f"{plural if len(numbers) > 1 else noun} {', '.join(numbers)}")


def _evidence(item: GalleryItem, papers: Sequence[PaperHeadlines]) -> str:
    """Return the weakest level of evidence of the headlines that rest on an experiment at its size; may be empty."""
    size = item.facts["size"]
    headlines = [
        headline
        for paper in papers
        for headline in paper.headlines.values()
        if size in headline.evidence and any(claim.partition("/")[0] == item.name for claim in headline.claims)
    ]
    if not headlines:
        return ""
    weakest = max(headlines, key=lambda headline: list(LEVELS).index(headline.evidence[size]))
    level = weakest.evidence[size]
    stands_in = f": {weakest.substitute}. Its verdicts do not test the paper's sentences" if level == SUBSTITUTE else ""
    return f"{LEVELS[level]}{stands_in}"


def _time(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.1f} minutes"


def is_own_page(path: Path) -> bool:
    """Return whether `make gallery` wrote a page."""
    return read_text(path).rstrip().endswith(MARK)


def validate_target(page: Path, gallery: Path) -> None:
    """Raise UserError if there is a page or a file beside the pictures that `make gallery` did not write.

    Args:
        page: Path of the page.
        gallery: Folder of pictures and further pages.
    """
    pages = [path for path in (page, *sorted(gallery.glob("*.md"))) if path.exists()]
    foreign = [path for path in pages if not is_own_page(path)]
    if not pages:
        foreign += sorted(path for path in gallery.glob("*.*") if path.suffix != ".md")
    for folder in sorted(path for size in SIZES for path in gallery.glob(f"{size}/*")):
        files = sorted(folder.iterdir()) if folder.is_dir() else [folder]
        foreign += [path for path in files if not path.is_file() or path.suffix != ".png"]
    if path := next(iter(foreign), None):
        raise UserError(f"{path} is not of `make gallery`: move it elsewhere, so that it is not lost")
