"""What pages and MLflow read of an experiment besides its numbers.

These are its facts, which about.json holds, and the verdicts on its claims, which claims.csv holds.
"""

import csv
import io
from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments import SIZES
from fedatlas.io.files import read_json, read_text
from fedatlas.results.claims.verdicts import (
    COLUMNS,
    EQUAL,
    HELD,
    MORE,
    NOT_HELD,
    NOT_TESTED,
    UNDECIDED,
    UNTESTED,
    VACUOUS,
)
from fedatlas.results.comparing.intervals import LEVEL, needed_seeds

if TYPE_CHECKING:
    import pandas as pd

FACTS_FILE = "about.json"  # in the folder of an experiment's results
KEYS = frozenset({"name", "size", "title", "paper", "figures", "algorithms", "axes", "select", "content", "tuning"})
# class in report.css and sign of each verdict that claims.csv may hold
VERDICTS = {
    HELD: ("held", "✓"),
    MORE: ("held", "✓✓"),
    EQUAL: ("undecided", "="),
    UNDECIDED: ("undecided", "?"),
    NOT_HELD: ("not-held", "✗"),
    VACUOUS: ("not-tested", "∅"),
    UNTESTED: ("not-tested", "–"),
    NOT_TESTED: ("not-tested", "–"),
}

Facts = dict[str, Any]  # JSON types; `fedatlas.publish.report.facts_builder.build_facts` names the keys


def read_facts(path: str | Path) -> Facts:
    """Return the facts in a file.

    Raises:
        UserError: The file does not exist or does not hold facts.
    """
    content = read_json(path)
    if not isinstance(content, dict) or (missing := sorted(KEYS - content.keys())):
        lack = f" (it lacks {', '.join(missing)})" if isinstance(content, dict) else ""
        raise UserError(f"{path} does not describe an experiment{lack}; `snakemake` makes it again")
    return content


def read_verdicts(path: Path) -> list[dict[str, str]]:
    """Return the rows of a claims.csv. Raises UserError if the file is not one."""
    lines = csv.DictReader(io.StringIO(read_text(path), newline=""))
    try:
        rows = list(lines)
    except csv.Error as error:
        raise UserError(f"{path} is not CSV: {error}") from None
    for row in rows:
        row.setdefault("p", "")
        texts = all(isinstance(row.get(name), str) for name in COLUMNS)
        if not texts or row["verdict"] not in VERDICTS or row["size"] not in SIZES:
            raise UserError(f"{path} holds no claims of fedatlas: it lacks columns or cells, or has another verdict")
    return rows


def to_frame(rows: list[dict[str, str]]) -> "pd.DataFrame":
    """Return rows of claims.csv as text; without rows the DataFrame has only column names."""
    import pandas as pd

    return pd.DataFrame(rows, columns=None if rows else list(COLUMNS))


def rests_on_normal_noise(claim: Mapping[str, str]) -> bool:
    """Return whether a verdict rests on Student's interval alone, with fewer seeds than an exact one needs.

    Args:
        claim: A row of claims.csv as text. Exact and deterministic claims have no p-value.
    """
    decided = claim["verdict"] in (HELD, MORE, EQUAL, NOT_HELD)
    return bool(decided and claim["p"] and claim["seeds"]) and float(claim["seeds"]) < needed_seeds(LEVEL)


def seeds_text(claim: Mapping[str, str]) -> str:
    """Return the number of seeds of a claim, with a t where its verdict rests on normal noise."""
    return f"{claim['seeds']} (t)" if rests_on_normal_noise(claim) else claim["seeds"]


def add_q_values(claims: Iterable[dict[str, str]], family: Callable[[Mapping[str, str]], Hashable]) -> None:
    """Set the key q of claims, the q-value of Benjamini & Hochberg (1995); empty where no test gives a p-value.

    If all claims with a q-value of at most 0.05 are decided, at most 5 % of these decisions are expected to be wrong.
    The rule holds for independent tests and for tests that are positively dependent.

    Args:
        claims: Rows of claims.csv as text.
        family: Function of a claim that returns its family, of whose decisions at most a share is expected to be wrong.
    """
    from scipy.stats import false_discovery_control

    families: dict[Hashable, list[dict[str, str]]] = {}
    for row in claims:
        families.setdefault(family(row), []).append(row)
    for rows in families.values():
        tested = [row for row in rows if row["p"]]
        for row in rows:
            row["q"] = ""
        for row, q in zip(tested, false_discovery_control([float(row["p"]) for row in tested]), strict=True):
            row["q"] = f"{q:.3g}"
