"""The tally of cards: a cell for each, coloured by its level of evidence, with its verdict and those of its parts."""

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from fedatlas.publish.report.cards import SIGNS, Card
from fedatlas.publish.report.headlines import LEVELS
from fedatlas.results.claims.verdicts import HELD, NOT_HELD, UNDECIDED
from fedatlas.results.figures.drawing import save
from fedatlas.results.figures.renderer import settings

COLOURS = dict(zip(LEVELS, ("#bcd7f2", "#b5e0c3", "#e4ecb4", "#f0dcb8", "#e8e8e8"), strict=True))
INKS = {HELD: "#0b5c30", NOT_HELD: "#b3261e", UNDECIDED: "#7a5200"}
WIDTH, HEIGHT, NAMES, GAP = 1.74, 0.5, 0.95, 0.06  # inches, of a cell, of the column of methods, between cells
COLUMNS = 6  # cells in a line; a paper with more takes another line
INK = "#262626"


def draw_tally(cards: Sequence[Card], out: Path) -> None:
    """Draw the tally, a block of lines for each paper."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch, Rectangle

    decks = [list(deck) for _, deck in itertools.groupby(cards, lambda card: card["method"])]
    lines = [deck[start : start + COLUMNS] for deck in decks for start in range(0, len(deck), COLUMNS)]
    width, height = NAMES + max(map(len, lines)) * WIDTH, len(lines) * HEIGHT
    with settings(), rc_context({"svg.fonttype": "none"}):
        figure = Figure(figsize=(width, height + 0.35))
        ax = figure.add_axes((0, 0.35 / (height + 0.35), 1, height / (height + 0.35)))
        ax.set(xlim=(0, width), ylim=(height, 0))
        ax.set_axis_off()
        named = ""
        for row, line in enumerate(lines):
            y = row * HEIGHT
            if line[0]["method"] != named:
                named = line[0]["method"]
                ax.text(0.04, y + HEIGHT / 2, named, va="center", fontsize=10, fontweight="bold", color=INK)
            for column, card in enumerate(line):
                x = NAMES + column * WIDTH
                box = (WIDTH - GAP, HEIGHT - GAP)
                ax.add_patch(Rectangle((x, y + GAP / 2), *box, facecolor=COLOURS[card["level"]], edgecolor="none"))
                ink = INKS.get(card["verdict"], INK)
                ax.text(x + 0.07, y + 0.19, card["title"], va="center", fontsize=7.5, color=INK)
                text = f"{SIGNS[card['verdict']]} {card['verdict']}{' (t)' if card['normal'] else ''}"
                ax.text(x + 0.07, y + 0.36, text, va="center", fontsize=7.5, fontweight="bold", color=ink)
                ax.text(x + WIDTH - GAP - 0.07, y + 0.36, _parts(card), va="center", ha="right", fontsize=7, color=INK)
        levels = [level for level in LEVELS if any(card["level"] == level for card in cards)]
        handles = [Patch(facecolor=COLOURS[level], label=LEVELS[level]) for level in levels]
        figure.legend(handles=handles, loc="lower left", ncols=len(levels), frameon=False, fontsize=7.5)
        save(figure, out)


def _parts(card: Card) -> str:
    """Return how many parts of a card have which sign, such as ``14 ✓ 4 –``; empty where it does not count them."""
    counts = Counter(part["verdict"] for part in card["parts"]) if card["shares"] else Counter()
    return "  ".join(f"{counts[verdict]} {sign}" for verdict, sign in SIGNS.items() if counts[verdict])


def count_words(cards: Sequence[Card]) -> str:
    """Return the number of cards by verdict in words, such as ``12 held, 3 not held``."""
    counts = {verdict: sum(card["verdict"] == verdict for card in cards) for verdict in SIGNS}
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
