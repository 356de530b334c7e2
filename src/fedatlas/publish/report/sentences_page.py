"""The page of the sentences of abstracts and introductions, with the cards and claims that test them, in Markdown."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from fedatlas.io.markdown import escape_markdown
from fedatlas.publish.report.cards import SIGNS, Card
from fedatlas.publish.report.headlines import NOT_RUN, PaperHeadlines, Sentence

PAGE = "sentences.md"


def write_lines(papers: Sequence[PaperHeadlines], cards: Sequence[Card], pages: Collection[str]) -> Iterator[str]:
    """Yield the lines of the page.

    Args:
        papers: The headlines of the papers, with their sentences.
        cards: The cards of all papers.
        pages: Names of the experiments that have a page.
    """
    deck = {card.id: card for card in cards}
    yield "# What the papers claim, sentence by sentence"
    yield ""
    yield "Every sentence of the abstracts, and those that claim something in the introductions of FedAWE and FedSpeed."
    yield "Beside it stand the cards that test it, or the reason why there is none."
    yield ""
    for paper in papers:
        if paper.sentences:
            yield f"## {escape_markdown(paper.method)}"
            yield ""
            yield "| Place | Sentence | Cards and claims | Not tested |"
            yield "|---|---|---|---|"
            for sentence in paper.sentences:
                yield f"| {' | '.join(_cells(paper.name, sentence, deck, pages))} |"
            yield ""


def _cells(paper: str, sentence: Sentence, deck: Mapping[str, Card], pages: Collection[str]) -> list[str]:
    cards = [deck[f"{paper}/{name}"] for name in sentence.cards]
    tests = [f"{SIGNS[card.verdict]} [{escape_markdown(card.title)}]({paper}.md): {card.verdict}" for card in cards]
    for claim in sentence.claims:
        text, name = escape_markdown(claim), claim.partition("/")[0]
        tests.append(f"[{text}]({name}.md)" if name in pages else f"{text}: {NOT_RUN}")
    place, text, reason = map(escape_markdown, (sentence.place, sentence.text, sentence.reason))
    return [place, text, "<br>".join(tests), reason]
