"""Cards: headlines with one verdict each, from the verdicts that the gallery holds.

The rule of a verdict: interpretations of a part that agree give the part's verdict; if they differ, it is *undecided*.
Those that are vacuous or not tested do not count; a part with no others is *vacuous* or *not tested*. A sentence with
several parts is *not held* if one of them is not, else *undecided* if one is undecided, vacuous or not tested, else
*equal* if one is, else *held*. Results on a substitute do not test the sentence: the verdict is *not tested*, with what
the substitute gave in brackets.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments import axis_values, labels
from fedatlas.publish.report.headlines import LEVELS, NOT_RUN, SUBSTITUTE, Beside, Headline, Number, PaperHeadlines
from fedatlas.publish.report.verdicts import at_largest_size, rests_on_normal_noise
from fedatlas.results.claims.verdicts import EQUAL, HELD, MORE, NOT_HELD, NOT_TESTED, UNDECIDED, UNTESTED, VACUOUS
from fedatlas.results.comparing.intervals import difference
from fedatlas.results.comparing.published import TABLES, read_table

if TYPE_CHECKING:
    import pandas as pd

SIGNS = {HELD: "✓", EQUAL: "=", UNDECIDED: "?", NOT_HELD: "✗", VACUOUS: "∅", UNTESTED: "–", NOT_RUN: "–"}

# columns of claims.csv
ROW = ("experiment", "size", "claim", "text", "interpretation", "source", "paper", "ours", "verdict", "seeds", "p")
SILENT = (VACUOUS, UNTESTED, NOT_TESTED)  # verdicts that say nothing about a claim, and so leave a sentence undecided


Card = dict[str, Any]  # JSON types; `make_cards` names the keys


def judge_part(verdicts: Sequence[str]) -> str:
    """Return the verdict on a part of a sentence, from those of its interpretations."""
    distinct = {HELD if verdict == MORE else verdict for verdict in verdicts if verdict not in SILENT}
    if not distinct:
        return VACUOUS if VACUOUS in verdicts else UNTESTED
    (verdict, *others) = distinct
    return UNDECIDED if others else verdict


def judge_sentence(parts: Sequence[str]) -> str:
    """Return the verdict on a sentence, from those of its parts."""
    distinct = set(parts)
    if distinct <= set(SILENT):
        return VACUOUS if distinct == {VACUOUS} else UNTESTED
    if distinct & set(SILENT):
        distinct |= {UNDECIDED}
    return next(verdict for verdict in (NOT_HELD, UNDECIDED, EQUAL, HELD) if verdict in distinct)


def count_parts(parts: Sequence[str]) -> str:
    """Return how many parts have which verdict, as ``3 of 4 held, 1 not held``; empty for fewer than two."""
    if len(parts) < 2:
        return ""
    counts = Counter(parts)
    (first, count), *others = [(verdict, counts[verdict]) for verdict in SIGNS if counts[verdict]]
    return ", ".join([f"{count} of {len(parts)} {first}", *(f"{count} {verdict}" for verdict, count in others)])


@dataclass(frozen=True)
class GalleryState:
    """What cards need to know of the gallery.

    Attributes:
        claims: Rows of claims.csv.
        figures: Paths of figures by EXPERIMENT/FIGURE, those of the largest size.
        unrecorded: Names of the experiments that the record does not have.
        scores: Chosen scores by experiment, at the largest size.
        points: Published points beside scores by experiment, at the largest size.
        hours: Processor hours that experiments take at the paper's size.
    """

    claims: Sequence[Mapping[str, str]]
    figures: Mapping[str, str]
    unrecorded: Collection[str]
    scores: "Mapping[str, pd.DataFrame]"
    points: "Mapping[str, pd.DataFrame]"
    hours: Mapping[str, float]


def make_cards(papers: Sequence[PaperHeadlines], state: GalleryState) -> list[Card]:
    """Return the cards of papers.

    Returns:
        Mappings with ``id``, as ``fedac/speed-up``; ``paper``, its key, and ``method``, its name; ``title``, ``quote``
        and ``place`` of the sentence; ``level`` of evidence; ``verdict``, a key of SIGNS, and ``words`` for it with the
        substitute, the number, and what came out elsewhere; ``shares``, how many parts have which verdict, where there
        are several; ``here``, the results that decide; ``parts`` with name, verdict and rows of claims.csv; ``sizes``
        of these rows; ``effect`` in the paper; ``figure``, a path in the gallery; what was ``tried``; ``outcome``
        beside the verdict, where the record has all experiments; ``untested`` parts, and what is not a part, with the
        reason; ``elsewhere``, place and row where the same is asked and the sentence does not speak of; ``prices``,
        with words, experiment, and processor hours or None, of what the paper's size would take; ``normal``, whether a
        verdict rests on normal noise; ``unrecorded`` experiments; ``beside``, heads and rows of a table of the paper
        beside results; a sentence on published ``points``.

    Raises:
        UserError: A size at which a headline is tested has no level of evidence.
    """
    rows = rows_by_claim(state.claims)
    return [_make_card(paper, name, line, rows, state) for paper in papers for name, line in paper.headlines.items()]


def card_experiments(card: Card) -> list[str]:
    """Return the names of the experiments that a card rests on."""
    rows = [row for part in card["parts"] for row in part["rows"]] + [row for _, row in card["elsewhere"]]
    return list(dict.fromkeys(row["experiment"] for row in rows))


def rows_by_claim(claims: Sequence[Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Return the row of each claim at the largest size that tests it, by EXPERIMENT/CLAIM."""
    rows = at_largest_size(claims)
    return {"/".join(key): {name: row.get(name) or "" for name in ROW} for key, row in rows.items()}


def _make_card(
    paper: PaperHeadlines, name: str, headline: Headline, rows: Mapping[str, dict[str, str]], state: GalleryState
) -> Card:
    parts: list[dict[str, Any]] = []
    for part, claims in headline.parts.items():
        interpretations = [rows[claim] for claim in claims if claim in rows]
        parts.append(
            {"name": part, "verdict": judge_part([row["verdict"] for row in interpretations]), "rows": interpretations}
        )
    sizes = dict.fromkeys(row["size"] for part in parts for row in part["rows"])
    level = _level(f"{paper.name}/{name}", headline, sizes)
    verdict = judge_sentence([part["verdict"] for part in parts])
    experiments = dict.fromkeys(claim.partition("/")[0] for claim in headline.claims)
    elsewhere = [(place, rows[claim]) for place, claim in headline.elsewhere.items() if claim in rows]
    unrecorded = [name for name in experiments if name in state.unrecorded]
    points = [state.points[experiment] for experiment in experiments if experiment in state.points]
    return {
        "id": f"{paper.name}/{name}",
        "paper": paper.paper,
        "method": paper.method,
        "title": headline.title,
        "quote": headline.quote,
        "place": headline.place,
        "level": level,
        "verdict": {NOT_RUN: NOT_RUN, SUBSTITUTE: UNTESTED}.get(level, verdict),
        "words": _words(level, verdict, headline.substitute, _number(headline.number, state), elsewhere),
        "shares": "" if level in (SUBSTITUTE, NOT_RUN) else count_parts([part["verdict"] for part in parts]),
        "here": _decisive(parts, verdict),
        "parts": parts,
        "sizes": sorted(sizes),
        "effect": headline.paper and f"{headline.paper} ({headline.paper_source})",
        "figure": state.figures.get(headline.figure or "", ""),
        "tried": headline.tried,
        "outcome": headline.outcome if sizes and not unrecorded else "",
        "untested": list(_untested(parts, headline)) if sizes else [],
        "elsewhere": elsewhere,
        "prices": [[words, name, state.hours.get(name)] for words, name in headline.not_run.items()],
        "normal": any(rests_on_normal_noise(row) for part in parts for row in part["rows"]),
        "unrecorded": unrecorded,
        "beside": _beside(headline.beside, state) if headline.beside and state.scores else [],
        "points": _compare_points(points[0]) if points else "",
    }


def _untested(parts: Sequence[Mapping[str, Any]], headline: Headline) -> Iterator[str]:
    """Yield what is not tested: parts of the sentence, and what is none with the reason."""
    for part in parts:
        if part["verdict"] in SILENT:
            yield part["name"] if part["verdict"] == UNTESTED else f"{part['name']} ({part['verdict']})"
    for words, reason in headline.outside.items():
        yield f"{words} ({reason})"


def _level(name: str, headline: Headline, sizes: Iterable[str]) -> str:
    """Return the weakest level of evidence of the sizes at which a headline is tested."""
    for size in sizes:
        if size not in headline.evidence:
            raise UserError(f"the headline {name} has results of size {size}, for which it has no level of evidence")
    levels = [headline.evidence[size] for size in sizes]
    return max(levels, key=list(LEVELS).index, default=NOT_RUN)


def _words(
    level: str, verdict: str, substitute: str, number: str, elsewhere: Sequence[tuple[str, Mapping[str, str]]]
) -> str:
    if level == NOT_RUN:
        return NOT_RUN
    shown = "; ".join([verdict, *filter(None, [number]), *(f"{place}: {row['verdict']}" for place, row in elsewhere)])
    return f"{UNTESTED} (on {substitute}: {shown})" if level == SUBSTITUTE else shown


def _number(number: Number | None, state: GalleryState) -> str:
    """Return the number of a sentence beside the paper's, with Welch's interval; empty without scores."""
    if number is None or number.experiment not in state.scores:
        return ""
    scores = state.scores[number.experiment]
    ours, theirs = (_row(scores, id, number.where) for id in (number.algorithm, number.than))
    if not (ours and theirs):
        return ""
    first, second = ((row["score"], row["score_sd"], int(row["seeds"])) for row in (ours, theirs))
    mean, half = difference(first, second)
    ends = f"{labels.number(100 * (mean - half))} to {labels.number(100 * (mean + half))}"
    agrees = "as the paper's" if abs(100 * mean - number.points) <= 100 * half else "for the paper's"
    return f"{labels.number(100 * mean)} points ({ends}) {agrees} {labels.number(number.points)}"


def _decisive(parts: Sequence[Mapping[str, Any]], verdict: str) -> str:
    """Return the results of the first interpretation with the sentence's verdict, in the first part that has it."""
    for part in parts:
        if part["verdict"] == verdict and part["rows"]:
            matching = [row for row in part["rows"] if judge_part([row["verdict"]]) == verdict]
            row = (matching or part["rows"])[0]
            return f"{part['name']}: {row['ours']}" if len(parts) > 1 else row["ours"]
    return ""


def _beside(beside: Beside, state: GalleryState) -> list[list[str]]:
    """Return the rows of a table of the paper with a last column of results, in percent; the first row has heads."""
    table, scores = read_table(beside.table), state.scores.get(beside.experiment)
    columns = list(dict.fromkeys(table["column"]))
    lines = [["setting", "method", *(f"{column}, {TABLES[beside.table]}" for column in columns), "here"]]
    table = table[table["group"].isin(list(beside.settings))]
    for (group, id), part in table.groupby(["group", "algorithm"], sort=False):
        numbers = dict(zip(part["column"], part["value"], strict=True))
        score = math.nan if scores is None else _row(scores, id, beside.settings[group]).get("score", math.nan)
        here = "" if math.isnan(score) else "diverged" if math.isinf(score) else f"{100 * score:.1f}"
        lines.append([group, part["name"].iloc[0], *(numbers.get(column, "") for column in columns), here])
    return lines


def _row(scores: "pd.DataFrame", id: str, values: Mapping[str, Any]) -> dict[str, float]:
    """Return the row of an algorithm in a setting; empty if there is not exactly one."""
    rows = scores[scores["algorithm"] == id]
    for axis, value in values.items():
        rows = rows[[axis_values.parse(cell) == value for cell in rows[axis]]]
    return rows.to_dict("records")[0] if len(rows) == 1 else {}


def _compare_points(points: "pd.DataFrame") -> str:
    """Return a sentence on scores beside published points: medians of the ratios, over all and by algorithm."""
    ratios = (points["score"] / points["published"]).groupby(points["algorithm"]).median()
    middle = (points["score"] / points["published"]).median()
    shown = (points["shown"] / points["published"]).median()
    range_text = f"{labels.number(ratios.min())} to {labels.number(ratios.max())} times by algorithm"
    return (
        f"Beside the {len(points)} points that the authors published, suboptimality here is {labels.number(middle)} "
        f"times theirs in the median, {range_text}. With the step size chosen on the one run that is shown, as in the "
        f"paper, it is {labels.number(shown)} times theirs."
    )
