"""What the attack on the papers' statements found (folder statements), for pages of experiments and cards."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fedatlas.experiments.numbering import find_places
from fedatlas.io import csv
from fedatlas.io.markdown import escape_markdown

FILE = "statements.csv"  # in the gallery; statements/page.py writes it
LOOSE = 0.01  # share of a bound below which it is called loose

Row = Mapping[str, Any]


def read(gallery: Path) -> list[Row]:
    """Return a row for each statement that an experiment judges, where the gallery has the file.

    Args:
        gallery: Folder of the gallery.

    Returns:
        Mappings with ``experiment``, ``statement``, ``share`` (how near the attack brought the left side to the right
        one), ``draws`` and ``erratum`` (name of the page of a false statement, or an empty text).
    """
    path = gallery / FILE
    return csv.read(path, dtype=str, keep_default_na=False).to_dict("records") if path.exists() else []


def card_text(card: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """Return what was found on the statements that a card names, for experiments on which it rests, or an empty text.

    Args:
        card: The card, whose place in the paper names the statement.
        rows: What `read` returned.
    """
    experiments = {row["experiment"] for part in card["parts"] for row in part["rows"]}
    numbers = set(map(str, find_places(card["place"])))
    # a statement without its part or interpretation: ``Theorem 3`` for ``Theorem 3 (b), with A = 1``
    named = [row for row in rows if re.split(r",| \(", row["statement"])[0] in numbers]
    return "; ".join(dict.fromkeys(describe(row) for row in named if row["experiment"] in experiments))


def describe(row: Row) -> str:
    """Return what an attack found on a statement: an erratum, or how near it came to the bound."""
    statement = escape_markdown(row["statement"])
    if row["erratum"]:
        return f"{statement}: false ([erratum](../errata/{row['erratum']}.md))"
    share = float(row["share"])
    near = f"{100 * share:.3g} % of the bound" if share >= LOOSE else "less than 1 % of the bound, which is loose there"
    return f"{statement}: at worst {near}, in {int(row['draws']):,} draws"
