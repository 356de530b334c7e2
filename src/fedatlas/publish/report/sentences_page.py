"""The page of the sentences of abstracts and introductions, with the cards and claims that test them, in Markdown."""

from collections.abc import Iterator, Mapping, Sequence

from fedatlas.io.markdown import escape_markdown
from fedatlas.publish.report.cards import SIGNS, Card
from fedatlas.publish.report.headlines import PaperHeadlines, Sentence

PAGE = "sentences.md"


def write_lines(papers: Sequence[PaperHeadlines], cards: Sequence[Card]) -> Iterator[str]:
    """Yield the lines of the page.

    Args:
        papers: The headlines of the papers, with their sentences.
        cards: The cards of all papers.
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
                yield f"| {' | '.join(_cells(paper.name, sentence, deck))} |"
            yield ""


def _cells(paper: str, sentence: Sentence, deck: Mapping[str, Card]) -> list[str]:
    cards = [deck[f"{paper}/{name}"] for name in sentence.cards]
    tests = [f"{SIGNS[card.verdict]} [{escape_markdown(card.title)}]({paper}.md): {card.verdict}" for card in cards]
    tests += [f"[{escape_markdown(claim)}]({claim.partition('/')[0]}.md)" for claim in sentence.claims]
    place, text, reason = map(escape_markdown, (sentence.place, sentence.text, sentence.reason))
    return [place, text, "<br>".join(tests), reason]
