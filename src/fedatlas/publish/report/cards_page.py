"""The page of a paper's cards, in Markdown."""

from collections.abc import Iterator, Sequence

from fedatlas.io.markdown import escape_markdown
from fedatlas.publish.report import attacks
from fedatlas.publish.report.cards import SIGNS, Card
from fedatlas.publish.report.headlines import LEVELS
from fedatlas.publish.report.verdicts import seeds_text
from fedatlas.registry.bibliography import Reference

NOISE = "../concepts/comparing.md#noise-that-is-not-normal"
MISSING = "../gallery.md#not-in-the-record"


def write_lines(
    paper: Reference,
    cards: Sequence[Card],
    pages: Sequence[tuple[str, str]],
    found: Sequence[attacks.Row] = (),
) -> Iterator[str]:
    """Yield the lines of the page.

    Args:
        paper: The paper.
        cards: Its cards.
        pages: Words and addresses of the pages of its figures.
        found: What the attack on statements found, as `attacks.read` returns it.
    """
    yield f"# {escape_markdown(paper.short)}: what the paper says, and what came out"
    yield ""
    authors, venue = escape_markdown(paper.authors), escape_markdown(paper.venue)
    yield f"{authors}, *{escape_markdown(paper.title)}*, {venue}, {paper.year}."
    yield ""
    yield (
        "Pages of its figures, tables and theorems: " + " · ".join(f"[{words}]({link})" for words, link in pages) + "."
    )
    yield ""
    for card in cards:
        yield from card_lines(card, found)


def card_lines(card: Card, found: Sequence[attacks.Row] = ()) -> Iterator[str]:
    """Yield the lines of a card. found: What the attack on statements found."""
    yield f"## {escape_markdown(card.title)}"
    yield ""
    yield f"> “{escape_markdown(card.quote)}” ({escape_markdown(card.place)})"
    yield ""
    for number, (key, text) in enumerate(_facts(card, found)):
        yield f"| {key} | {text} |"
        if not number:
            yield "|---|---|"
    yield ""
    if card.figure:
        origin = "a figure of the results" if card.parts else "the runs that the authors published"
        yield f"![{escape_markdown(card.title)}: {origin}]({card.figure})"
        yield ""
    if card.beside:
        head, *rows = card.beside
        yield from _table(head, rows)
        yield ""
    if card.parts:
        yield "<details><summary>Readings and parts</summary>"
        yield ""
        yield from _table(["Part", "Claim", "Paper", "Here", "Seeds", "Verdict"], _rows(card))
        yield ""
        yield "</details>"
        yield ""


def _facts(card: Card, found: Sequence[attacks.Row]) -> Iterator[tuple[str, str]]:
    """Yield pairs (key, text) of a card."""
    yield "Verdict", f"**{SIGNS[card.verdict]} {escape_markdown(card.words)}**"
    if card.shares:
        yield "Parts", card.shares
    sizes = sorted({row["size"] for part in card.parts for row in part["rows"]})
    size = f" (size {' and '.join(sizes)})" if sizes else ""
    yield "Evidence", f"{LEVELS[card.level]}{size}"
    if card.normal:
        yield "Noise", f"taken as normal where t stands beside the seeds ([why]({NOISE}))"
    if card.here:
        yield "Here", escape_markdown(card.here)
    if card.effect:
        yield "In the paper", escape_markdown(card.effect)
    if card.points:
        yield "Published points", escape_markdown(card.points)
    for place, row in card.elsewhere:
        page = f"[{row['experiment']}]({row['experiment']}.md)"
        yield "Elsewhere", f"{escape_markdown(place)}: {escape_markdown(row['ours'])}, {row['verdict']} ({page})"
    yield "Tried" if sizes else "Plan", escape_markdown(card.tried)
    if card.outcome:
        yield "Outcome", escape_markdown(card.outcome)
    if card.untested:
        yield "Not tested", escape_markdown("; ".join(card.untested))
    experiments = {row["experiment"] for part in card.parts for row in part["rows"]}
    if text := attacks.card_text(card.place, experiments, found):
        yield "Attack", text
    for words, name, hours in card.prices:
        price = "of unknown price" if hours is None else f"about {_hours(hours)} of a processor"
        yield "Not run", f"{escape_markdown(words)}: {price} (`snakemake --cores 2 {name} --config size=paper`)"
    if card.unrecorded:
        yield "Record", f"lacks {escape_markdown(', '.join(card.unrecorded))} ([hours]({MISSING}))"


def _hours(hours: float) -> str:
    return f"{hours:,.0f} hours" if hours >= 10 else f"{hours:.1f} hours"


def _rows(card: Card) -> Iterator[list[str]]:
    for part in card.parts:
        if not part["rows"]:
            yield [escape_markdown(part["name"]), "no results", "", "", "", part["verdict"]]
        for row in part["rows"]:
            reading = f" Reading: {row['reading'].rstrip('.')}." if row["reading"] else ""
            claim = escape_markdown(f"{row['text']}{reading} ({row['source']})")
            page = f"[{row['experiment']}]({row['experiment']}.md)"
            ours = escape_markdown(row["ours"])
            cells = row["paper"], ours, seeds_text(row), row["verdict"]
            yield [escape_markdown(part["name"]), f"{claim} {page}", *cells]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]] | Iterator[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"
