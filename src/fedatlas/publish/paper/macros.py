"""Numbers of an experiment as TeX macros, whose names are unique and have letters alone."""

import math
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from fedatlas.experiments import labels
from fedatlas.experiments.axis_values import is_missing, parse
from fedatlas.publish.paper import tex
from fedatlas.publish.paper.results import PaperResults
from fedatlas.publish.paper.tables import format_claim_cell
from fedatlas.publish.report.tables import seed_range
from fedatlas.results.claims.verdicts import NOT_TESTED

DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
SIGNS = {".": "Point", "-": "Minus", "+": "Plus", "−": "Minus", "%": "Percent"}


def macro_name(*parts: str) -> str:
    """Return a macro's name, without the backslash: ``claim``, ``fedac-rounds`` give ``ClaimFedacRounds``.

    Digits, the point and the sign of a number become words. The name is not empty and has ASCII letters alone.
    """
    return "".join(word for part in parts for word in _words(part)) or "Empty"


def _words(text: str) -> Iterator[str]:
    plain = "".join(
        tex.LETTERS.get(c) or (c if c in SIGNS else "".join(d for d in unicodedata.normalize("NFKD", c) if d.isascii()))
        for c in text
    )
    for match in re.finditer(r"([-+−]?)(\d+(?:\.\d+)?)|([A-Za-z]+)|(\S)", plain):
        sign, digits, letters, symbol = match.groups()
        previous = plain[match.start() - 1 : match.start()]
        if digits:
            yield SIGNS[sign] if sign and not previous.isalnum() else ""
            yield from (SIGNS["."] if d == "." else DIGITS[int(d)] for d in digits)
        elif letters:
            yield letters[0].upper() + letters[1:]
        elif symbol in "+%":
            yield SIGNS[symbol]


class Macros:
    """Definitions of macros in the order in which they are added.

    Args:
        prefix: First part of all names, such as the experiment's name.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix, self.lines = prefix, list[str]()
        self._names: set[str] = set()

    def add(self, *parts: str, value: str, note: str) -> str:
        """Define a macro and return its name.

        Args:
            parts: Parts of the name; a version number is appended if the name is in use.
            value: Value, as TeX.
            note: Comment on the value.
        """
        base = macro_name(self.prefix, *parts)
        name, version = base, 1
        while name in self._names:
            version += 1
            name = f"{base}V{macro_name(str(version))}"
        self._names.add(name)
        self.lines.append(rf"\newcommand{{\{name}}}{{{value}}} {tex.comment(note)}")
        return name

    def comment(self, text: str) -> None:
        """Add a comment on a separate line."""
        self.lines += ["", tex.comment(text)]


def render_numbers(results: PaperResults) -> str:
    """Return macros for the numbers of runs, the verdicts of claims, and the scores of all algorithms."""
    facts = results.facts
    macros = Macros(facts.name)
    macros.comment(f"Of {results.folder}/table.parquet, and so of all run files of the experiment")
    macros.add("runs", value=tex.number(results.meta.runs, 6), note="runs in all")
    macros.add("diverged", value=tex.number(results.meta.diverged_runs), note="runs that diverged")
    macros.add("hours", value=tex.number(results.meta.seconds / 3600), note="hours of a processor for the training")
    macros.add("seeds", value=seed_range(facts, results.table), note="seeds of the scores")
    macros.comment(f"Claims, of {results.folder}/claims.csv and so of all run files")
    for claim in results.claims.to_dict("records"):
        if claim["verdict"] != NOT_TESTED:
            _add_claim(macros, claim)
    macros.comment(f"{facts.score} of the chosen runs, mean and standard deviation over the seeds, and what was tuned")
    for row in results.chosen.to_dict("records"):
        id, *point = row["algorithm"], *results.point(row)
        note = f"{', '.join([facts.algorithms[id], *point])}: {' '.join(results.run_files_of_row(id, row))}"
        macros.add(id, *point, "score", value=format_score(row["score"]), note=note)
        if not is_missing(row["score_sd"]) and math.isfinite(row["score_sd"]):
            macros.add(id, *point, "sd", value=tex.number(row["score_sd"], 2), note=note)
        for name in facts.tune:
            if name in row and not is_missing(row[name]):
                macros.add(id, *point, name, value=format_value(row[name]), note=note)
    return "\n".join(macros.lines).lstrip() + "\n"


def _add_claim(macros: Macros, claim: dict[str, Any]) -> None:
    note = f"{claim['text']} ({claim['source']})"
    macros.add("claim", claim["claim"], "verdict", value=tex.escape(claim["verdict"]), note=note)
    for name in ("paper", "value", "low", "high", "seeds"):
        if claim.get(name):
            macros.add("claim", claim["claim"], name, value=format_claim_cell(claim[name]), note=f"{name}: {note}")
    if claim.get("ours"):
        macros.add("claim", claim["claim"], "ours", value=tex.escape(claim["ours"]), note=note)


def format_score(value: float) -> str:
    """Return a score as TeX."""
    return tex.number(value) if math.isfinite(value) else "diverged"


def format_value(cell: Any) -> str:
    """Return the value of a tuned hyper-parameter as TeX."""
    value = parse(cell)
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    return tex.number(value, 6) if numeric else tex.prose(labels.text(value))
