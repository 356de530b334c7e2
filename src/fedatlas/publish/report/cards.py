"""Headlines, sentences of a paper with the claims that test them, and cards: headlines with one verdict each.

Each paper has a file of headlines. The verdicts of cards follow from those that the gallery holds, by this rule:
interpretations of a part that agree give the part's verdict; if they differ, it is *undecided*. Those that are vacuous
or not tested do not count; a part with no others is *vacuous* or *not tested*. A sentence with several parts is *not
held* if one of them is not, else *undecided* if one is undecided, vacuous or not tested, else *equal* if one is, else
*held*. Results on a substitute do not test the sentence: the verdict is *not tested*, with what the substitute gave in
brackets.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError, lookup
from fedatlas.experiments import SIZES
from fedatlas.io.files import read_yaml
from fedatlas.io.formats import escape_markdown
from fedatlas.publish.report.facts import rests_on_normal_noise
from fedatlas.publish.report.numbering import find_places
from fedatlas.registry.bibliography import reference
from fedatlas.registry.options import construct, option
from fedatlas.results.claims.verdicts import EQUAL, HELD, MORE, NOT_HELD, NOT_TESTED, UNDECIDED, UNTESTED, VACUOUS

FOLDER = "config/headlines"
SUBSTITUTE, NOT_RUN = "substitute", "not run"
LEVELS = {
    "theory": "theory",
    "same": "the paper's model and data",
    "near": "near the paper's model and data",
    SUBSTITUTE: "a substitute for the paper's model or data",
    NOT_RUN: "not run",
}  # levels of evidence, from the strongest

SIGNS = {HELD: "✓", EQUAL: "=", UNDECIDED: "?", NOT_HELD: "✗", VACUOUS: "∅", UNTESTED: "–", NOT_RUN: "–"}
SILENT = (VACUOUS, UNTESTED, NOT_TESTED)  # verdicts that say nothing about a claim, and so leave a sentence undecided
# columns of claims.csv that a card keeps
ROW = ("experiment", "size", "claim", "text", "interpretation", "source", "paper", "ours", "verdict", "seeds", "p")

Card = dict[str, Any]  # JSON types; `make_cards` names the keys


@dataclass(frozen=True, kw_only=True)
class Headline:
    """A sentence of a paper and what tests it. Its fields are the options of a headline in a file of headlines."""

    title: str = option(doc="words for the sentence, for the tally")
    quote: str = option(doc="the sentence, word for word and whole, as far as it claims something")
    place: str = option(doc="place in the paper")
    parts: dict[str, Any] = option(
        doc="lists of claims, as EXPERIMENT/CLAIM, by part of the sentence; the claims of a part are its "
        "interpretations, and a part of an empty list is not tested"
    )
    outside: dict[str, str] = option(
        dict, doc="what is not tested and is not part of the sentence, with the reason, such as: a cause"
    )
    elsewhere: dict[str, str] = option(
        dict, doc="claims, as EXPERIMENT/CLAIM, that ask the same where the sentence does not speak of, by the place"
    )
    evidence: dict[str, str] = option(doc="level of evidence by size", filled=True)
    substitute: str = option("", doc="what stands in for the paper's model and data where the level is substitute")
    paper: str = option("", doc="effect in the paper")
    paper_source: str = option("", doc="source of this effect")
    figure: str | None = option(None, doc="figure, as EXPERIMENT/FIGURE")
    not_run: dict[str, str] = option(dict, doc="experiments that the paper's size would take, by the words for them")
    tried: str = option(doc="what was tried, and how words of the sentence are read; what came out is an outcome")
    outcome: str = option("", doc="what came out beside the verdict; shown where the record has all that it rests on")

    def __post_init__(self) -> None:
        for interpretations in self.parts.values():
            if not isinstance(interpretations, list) or not all("/" in str(claim) for claim in interpretations):
                raise UserError(f"headline: parts has {interpretations!r}; it must be a list of EXPERIMENT/CLAIM")
        for claim in self.elsewhere.values():
            if "/" not in str(claim):
                raise UserError(f"headline: elsewhere has {claim!r}; it must be EXPERIMENT/CLAIM")
        for size, level in self.evidence.items():
            lookup("size", size, dict.fromkeys(SIZES))
            lookup("level of evidence", level, LEVELS)
        if SUBSTITUTE in self.evidence.values() and not self.substitute:
            raise UserError("headline: evidence has a substitute, so substitute must say which one")

    @property
    def claims(self) -> list[str]:
        """The claims of all parts, as EXPERIMENT/CLAIM."""
        return [claim for interpretations in self.parts.values() for claim in interpretations]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A sentence that a reader must see first, and the claims that it rests on."""

    text: str = option(doc="the sentence")
    claims: list[str] = option(doc="claims, as EXPERIMENT/CLAIM", filled=True)


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence of an abstract or introduction, and where it is tested."""

    text: str = option(doc="the sentence")
    place: str = option(doc="place in the paper")
    cards: list[str] = option(list, doc="headlines of the paper that test it")
    claims: list[str] = option(list, doc="claims that test it, as EXPERIMENT/CLAIM, where no headline does")
    reason: str = option("", doc="what is not tested, and why")


@dataclass(frozen=True, kw_only=True)
class PaperHeadlines:
    """The headlines of a paper.

    Attributes:
        name: Name of the file, without its ending.
        paper: Key of the paper.
        headlines: The headlines by name.
        findings: The findings by name.
        sentences: The sentences of the abstract, and of some introductions.
    """

    name: str
    paper: str = option(doc="key of the paper in references.bib")
    headlines: dict[str, Headline] = option(doc="headlines by name", filled=True)
    findings: dict[str, Finding] = option(dict, doc="findings by name")
    sentences: list[Sentence] = option(list, doc="the sentences of the abstract, and of some introductions")

    @property
    def method(self) -> str:
        """The name of the paper's method."""
        return reference(self.paper).short


def read_headlines(folder: str | Path = FOLDER) -> list[PaperHeadlines]:
    """Return the headlines of all papers, sorted by the names of the files; none if there is no folder.

    Raises:
        UserError: A file does not hold headlines.
    """
    return [_read(path) for path in sorted(Path(folder).glob("*.yaml"))]


def _read(path: Path) -> PaperHeadlines:
    content = _in_one_line(read_yaml(path))
    try:
        if not isinstance(content, dict):
            raise UserError("it must be a mapping")
        parts: dict[str, Any] = {}
        for key, cls in (("headlines", Headline), ("findings", Finding)):
            values = content.get(key) or {}
            if not isinstance(values, dict):
                raise UserError(f"{key} is {values!r}; it must be a mapping")
            parts[key] = {name: construct(f"{key}.{name}", cls, part) for name, part in values.items()}
        parts["sentences"] = [construct("sentence", Sentence, values) for values in content.get("sentences") or ()]
        return construct("file of headlines", PaperHeadlines, {**content, **parts}, name=path.stem)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def _in_one_line(value: Any) -> Any:
    """Return a value in whose texts white space is a single space."""
    if isinstance(value, dict):
        return {key: _in_one_line(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_in_one_line(part) for part in value]
    return " ".join(value.split()) if isinstance(value, str) else value


def make_cards(
    papers: Sequence[PaperHeadlines],
    claims: Sequence[Mapping[str, str]],
    unrecorded: Collection[str],
    hours: Mapping[str, float],
    figures: Mapping[str, str] = {},
) -> list[Card]:
    """Return the cards of papers.

    Args:
        papers: Headlines of the papers.
        claims: Rows of claims.csv.
        unrecorded: Names of the experiments that the record does not have.
        hours: Processor hours that experiments take at the paper's size.
        figures: Paths of figures by EXPERIMENT/FIGURE, those of the largest size.

    Returns:
        Mappings with ``id``, as ``fedac/speed-up``; ``paper``, its key, and ``method``, its name; ``title``, ``quote``
        and ``place`` of the sentence; ``level`` of evidence; ``verdict``, a key of SIGNS, and ``words`` for it with the
        substitute, and what came out elsewhere; ``shares``, how many parts have which verdict, where there are several;
        ``here``, the results that decide; ``parts`` with name, verdict and rows of claims.csv; ``sizes`` of these rows;
        ``effect`` in the paper; ``figure``, a path in the gallery; what was ``tried``; ``outcome`` beside the verdict,
        where the record has all experiments; ``untested`` parts, and what is not a part, with the reason;
        ``elsewhere``, place and row where the same is asked and the sentence does not speak of; ``prices``, with words,
        experiment, and processor hours or None, of what the paper's size would take; ``normal``, whether a verdict
        rests on normal noise; ``unrecorded`` experiments.

    Raises:
        UserError: A size at which a headline is tested has no level of evidence.
    """
    rows = rows_by_claim(claims)
    cards = []
    for paper in papers:
        for name, headline in paper.headlines.items():
            card = _make_card(f"{paper.name}/{name}", headline, rows, unrecorded)
            card |= {"paper": paper.paper, "method": paper.method, "figure": figures.get(headline.figure or "", "")}
            card["prices"] = [
                [words, experiment, hours.get(experiment)] for words, experiment in headline.not_run.items()
            ]
            cards.append(card)
    return cards


def _make_card(id: str, headline: Headline, rows: Mapping[str, dict[str, str]], unrecorded: Collection[str]) -> Card:
    parts: list[dict[str, Any]] = []
    for part, claims in headline.parts.items():
        interpretations = [rows[claim] for claim in claims if claim in rows]
        parts.append(
            {"name": part, "verdict": judge_part([row["verdict"] for row in interpretations]), "rows": interpretations}
        )
    sizes = dict.fromkeys(row["size"] for part in parts for row in part["rows"])
    level = _level(id, headline, sizes)
    verdict = judge_sentence([part["verdict"] for part in parts])
    elsewhere = [(place, rows[claim]) for place, claim in headline.elsewhere.items() if claim in rows]
    experiments = dict.fromkeys(claim.partition("/")[0] for claim in headline.claims)
    lacking = [name for name in experiments if name in unrecorded]
    return {
        "id": id,
        "title": headline.title,
        "quote": headline.quote,
        "place": headline.place,
        "level": level,
        "verdict": {NOT_RUN: NOT_RUN, SUBSTITUTE: UNTESTED}.get(level, verdict),
        "words": _words(level, verdict, headline.substitute, elsewhere),
        "shares": "" if level in (SUBSTITUTE, NOT_RUN) else count_parts([part["verdict"] for part in parts]),
        "here": _decisive(parts, verdict),
        "parts": parts,
        "sizes": sorted(sizes),
        "effect": headline.paper and f"{headline.paper} ({headline.paper_source})",
        "tried": headline.tried,
        "outcome": headline.outcome if sizes and not lacking else "",
        "untested": list(_untested(parts, headline)) if sizes else [],
        "elsewhere": elsewhere,
        "normal": any(rests_on_normal_noise(row) for part in parts for row in part["rows"]),
        "unrecorded": lacking,
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


def _words(level: str, verdict: str, substitute: str, elsewhere: Sequence[tuple[str, Mapping[str, str]]]) -> str:
    if level == NOT_RUN:
        return NOT_RUN
    text = "; ".join([verdict, *(f"{place}: {row['verdict']}" for place, row in elsewhere)])
    return f"{UNTESTED} (on {substitute}: {text})" if level == SUBSTITUTE else text


def _decisive(parts: Sequence[Mapping[str, Any]], verdict: str) -> str:
    """Return the results of the first interpretation with the sentence's verdict, in the first part that has it."""
    for part in parts:
        if part["verdict"] == verdict and part["rows"]:
            matching = [row for row in part["rows"] if judge_part([row["verdict"]]) == verdict]
            row = (matching or part["rows"])[0]
            return f"{part['name']}: {row['ours']}" if len(parts) > 1 else row["ours"]
    return ""


def judge_part(verdicts: Sequence[str]) -> str:
    """Return the verdict on a part of a sentence, from those of its interpretations."""
    distinct = {HELD if verdict == MORE else verdict for verdict in verdicts if verdict not in SILENT}
    if not distinct:
        return VACUOUS if VACUOUS in verdicts else UNTESTED
    (verdict, *rest) = distinct
    return UNDECIDED if rest else verdict


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
    (first, count), *rest = [(verdict, counts[verdict]) for verdict in SIGNS if counts[verdict]]
    return ", ".join([f"{count} of {len(parts)} {first}", *(f"{count} {verdict}" for verdict, count in rest)])


def rows_by_claim(claims: Sequence[Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Return the row of each claim by EXPERIMENT/CLAIM."""
    return {f"{row['experiment']}/{row['claim']}": {name: row.get(name) or "" for name in ROW} for row in claims}


def card_experiments(card: Card) -> list[str]:
    """Return the names of the experiments that a card rests on."""
    rows = [row for part in card["parts"] for row in part["rows"]] + [row for _, row in card["elsewhere"]]
    return list(dict.fromkeys(row["experiment"] for row in rows))


def attack_text(card: Card, statements: Sequence[Mapping[str, str]]) -> str:
    """Return in Markdown what the attack found on the statement that a card names, for experiments on which it rests.

    Args:
        card: The card, whose place in the paper names the statement.
        statements: Rows of statements.csv, which the folder statements writes.
    """
    experiments = {row["experiment"] for part in card["parts"] for row in part["rows"]}
    numbers = set(map(str, find_places(card["place"])))
    # a statement without its part or interpretation: ``Theorem 3`` for ``Theorem 3 (b), with A = 1``
    rows = [row for row in statements if re.split(r",| \(", row["statement"])[0] in numbers]
    texts = [f"{escape_markdown(row['statement'])}: {row['found']}" for row in rows if row["experiment"] in experiments]
    return "; ".join(dict.fromkeys(texts))
