"""Headlines: sentences of a paper, quoted, with the claims that test them. Each paper has a file of its own."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError, lookup
from fedatlas.experiments import SIZES
from fedatlas.io.text import read_yaml
from fedatlas.registry.bibliography import reference
from fedatlas.registry.options import construct, option

FOLDER = "config/headlines"
SUBSTITUTE, NOT_RUN = "substitute", "not run"
LEVELS = {
    "theory": "theory",
    "same": "the paper's model and data",
    "near": "near the paper's model and data",
    SUBSTITUTE: "a substitute for the paper's model or data",
    NOT_RUN: "not run",
}  # levels of evidence, from the strongest


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
