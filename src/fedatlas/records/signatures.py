"""Signatures: for which code a record holds, and how much of it somebody computed again to know.

A signature says that cells, drawn at random, were computed again and had the numbers of the record. It holds for the
fingerprints of the code from which the cells were drawn.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.io.files import write_json
from fedatlas.io.text import read_json
from fedatlas.registry.validation import restore

FILE = "signatures.json"
RISK = 20  # with 95 % confidence: at most one draw in twenty would have missed all differing cells


@dataclass(frozen=True)
class Signature:
    """A statement about cells of a record.

    Attributes:
        size: Size of the experiment.
        experiment: Its name.
        fingerprints: Fingerprints, by today's code, of the cells from which some were drawn.
        cells: Number of cells that were computed again.
        population: Number of cells from which they were drawn.
        runs: Number of runs that were compared.
        difference: Largest relative difference of a number; 0 where all bits agree.
        environment: Versions and processor of the machine that computed them.
        date: Day, in ISO form.
        seed: Seed of the draw.
    """

    size: str
    experiment: str
    fingerprints: list[str]
    cells: int
    population: int
    runs: int
    difference: float
    environment: dict[str, str]
    date: str
    seed: int

    @property
    def meaning(self) -> str:
        """What the statement says, in words."""
        agreement = "to the last bit" if self.difference == 0 else f"to {self.difference:.1g} relative"
        return f"{self.cells} of {self.population} cells agree {agreement}: {bound_text(self.cells, self.population)}"


def largest_share(drawn: int, population: int) -> float:
    """Return the largest share of cells that may differ, with 95 % confidence, if none of those that were drawn does.

    The draw is without replacement: D of N cells differ and none is among n drawn ones with probability
    C(N - D, n) / C(N, n).

    Args:
        drawn: Number of cells n that were drawn.
        population: Number of cells N.
    """
    differing = 0
    while drawn and differing + 1 <= population - drawn:
        if RISK * math.comb(population - differing - 1, drawn) <= math.comb(population, drawn):
            break
        differing += 1
    return differing / population if drawn else 1.0


def bound_text(drawn: int, population: int) -> str:
    """Return what a draw without a difference says of all cells."""
    if drawn >= population:
        return "none differs"
    share = largest_share(drawn, population)
    return f"with 95 % confidence at most {100 * share:.2g} % of the cells differ"


def read_signatures(folder: Path) -> list[Signature]:
    """Return the signatures of a folder of records; none where nobody has signed.

    Raises:
        UserError: The file holds something else.
    """
    path = folder / FILE
    if not path.exists():
        return []
    content = read_json(path)
    try:
        return [restore(Signature, entry) for entry in content]
    except (TypeError, ValueError, LookupError) as error:
        raise UserError(f"{path} holds no signatures of records ({error}): check it out again") from None


def add_signatures(folder: Path, signatures: Iterable[Signature]) -> None:
    """Add signatures to the file of a folder of records, sorted so that equal content has equal bytes."""
    entries: list[dict[str, Any]] = [asdict(entry) for entry in [*read_signatures(folder), *signatures]]
    entries = sorted({json.dumps(entry, sort_keys=True): entry for entry in entries}.values(), key=_place)
    write_json(folder / FILE, entries)


def _place(entry: dict[str, Any]) -> tuple[Any, ...]:
    return entry["size"], entry["experiment"], entry["date"], entry["seed"], json.dumps(entry, sort_keys=True)


def signers(signatures: Iterable[Signature], size: str, experiment: str, fingerprint: str) -> list[Signature]:
    """Return the signatures that cover cells of an experiment whose code has a fingerprint."""
    return [
        signature
        for signature in signatures
        if (signature.size, signature.experiment) == (size, experiment) and fingerprint in signature.fingerprints
    ]
