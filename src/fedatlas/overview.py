"""What the atlas holds, for `fedatlas list` and `fedatlas claims`."""

import csv
from pathlib import Path

from fedatlas import algorithms, data, problems
from fedatlas.errors import UserError


def overview(what=None):
    """Sections (one if ``what`` names it) of (name, one line) pairs."""
    sections = {
        "algorithms": _algorithms,
        "problems": lambda: [(name, problems.get(name).summary()) for name in problems.PROBLEMS.names()],
        "data": lambda: [(name, data.info(name).title) for name in data.names()],
        "experiments": _experiments,
    }
    return {name: make() for name, make in sections.items() if what in (None, name)}


def _algorithms():
    found = []
    for name in algorithms.names():
        cls = algorithms.get(name)
        parameters = ", ".join(
            field if f.default in (None,) or repr(f.default).startswith("<") else f"{field}={f.default}"
            for field, f in cls.options().items()
        )
        found.append((name, f"{cls.__doc__.splitlines()[0]} [{parameters}]"))
    return found


def _experiments():
    from fedatlas.experiments.config import document

    return [(path.stem, document(path)["title"]) for path in sorted(Path("config/experiments").glob("*.yaml"))]


def verdicts(results="results"):
    """All claims with verdicts under a results folder, as dicts. Raises UserError if there are none."""
    rows, seen = [], set()
    for path in sorted(Path(results).glob("*/*/claims.csv")):
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                key = (row["experiment"], row["size"], row["claim"])
                if key not in seen:
                    seen.add(key)
                    rows.append(row)
    if not rows:
        raise UserError(f"no claims under {results}/: run `snakemake --cores 2` first")
    return rows
