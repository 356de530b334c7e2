"""A comparison as text for a terminal."""

import itertools
from collections.abc import Iterator, Sequence

from fedatlas.experiments import labels
from fedatlas.io.machine import hanging_indent
from fedatlas.publish.comparison.numbers import EntryNumbers
from fedatlas.results.comparing.pairwise import MEANINGFUL, Estimate
from fedatlas.results.comparing.ranks import ProblemRank

HARDEST = 10  # rivals that the terminal shows
SIGNS = {"ahead": "+", "behind": "−", "even": " "}


def render(numbers: EntryNumbers) -> str:
    """Return the tables of an algorithm, and the sentence."""
    tables = [problem_rows(numbers), choice_rows(numbers), overall_rows(numbers)[: HARDEST + 1]]
    parts = [[f"{numbers.name}: {numbers.quantity}"], *(align(rows) for rows in tables if len(rows) > 1)]
    sentences = (hanging_indent("", text) for text in (numbers.sentence, note(numbers)))
    return "\n\n".join("\n".join(part) for part in (*parts, sentences))


def note(numbers: EntryNumbers) -> str:
    """Return what the numbers mean."""
    equal = f"scores within {100 * numbers.margin:g} %" if numbers.margin else "equal scores"
    return (
        f"P: share of the instances on which it is better, with 95 % interval; {equal} count one half. Ahead (+) and "
        f"behind (−): the interval of the paired {'ratio' if numbers.log else 'difference'}, which holds over all "
        f"problems together, excludes {'1' if numbers.log else '0'}, and at least {100 * MEANINGFUL:.0f} % of the "
        "instances are won; behind the best other, it holds for all others together too. Intervals of ranks on a "
        "problem resample its instances, and intervals over all problems the problems."
    )


def problem_rows(numbers: EntryNumbers) -> list[list[str]]:
    """Return the table of problems, with its heads."""
    heads = ["problem", "score", "best other", "whose", "rank"]
    heads += [f"P({numbers.names[id]})" for id in numbers.references] + ["P(best other)"]
    return [heads, *(_problem_row(numbers, title, place) for title, place in numbers.places.items())]


def _problem_row(numbers: EntryNumbers, title: str, place: ProblemRank) -> list[str]:
    if not place.seeds:
        return [title, numbers.absent.removeprefix("is ").removeprefix("has ")]
    rival = place.rival
    row = [title, labels.number(place.score), labels.number(place.rival_score) if rival else "–"]
    row += [numbers.names[rival] if rival else "", f"{_estimate(place.rank)} of {1 + len(place.comparisons)}"]
    met = [place.comparisons.get(id or "") for id in (*numbers.references, rival)]
    return [*row, *(f"{_estimate(other.won)}{SIGNS[other.side]}" if other else "–" for other in met)]


def _estimate(estimate: Estimate | None) -> str:
    """Return a rank or a probability with its interval: ``0.33 (0.01–0.91)``."""
    if estimate is None:
        return "–"
    value, low, high = (f"{round(number, 2):.2g}" for number in estimate)
    return f"{value} ({low}–{high})"


def choice_rows(numbers: EntryNumbers) -> list[list[str]]:
    """Return the table of what tuning chose, with its heads."""
    return [["problem", "chosen"], *map(list, numbers.choices.items())]


def overall_rows(numbers: EntryNumbers) -> list[list[str]]:
    """Return the table of probabilities over all problems, with its heads; the hardest rivals come first."""
    order = sorted(numbers.overall.items(), key=lambda row: row[1].value)
    texts = [[numbers.names[id], "{:.2f} ({:.2f}–{:.2f})".format(*share)] for id, share in order]
    return [["over all problems", "P"], *texts]


def align(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows with columns of equal widths."""
    widths = [max(map(len, column)) for column in itertools.zip_longest(*rows, fillvalue="")]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()
