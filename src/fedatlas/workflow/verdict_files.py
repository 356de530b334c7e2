"""The verdicts that results hold, as `fedatlas claims` and the closing summary tell them."""

import csv
from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.io.csv import unguarded
from fedatlas.results.claims.judge import COLUMNS


def of_file(path: Path) -> list[dict[str, str]]:
    """The rows of a claims.csv. Raises UserError if the file is not one."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = [{name: unguarded(text) for name, text in row.items()} for row in csv.DictReader(file)]
    except (OSError, ValueError, csv.Error) as error:
        raise UserError(f"{path} cannot be read: {error}") from None
    if any(row.get(name) is None for row in rows for name in COLUMNS):
        raise UserError(f"{path} holds no claims of fedatlas: it lacks columns or cells")
    return rows


def verdicts(results: str | Path = "results") -> list[dict[str, str]]:
    """All claims with verdicts under a results folder, each once. Raises UserError if there are none."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for path in sorted(Path(results).glob("*/*/claims.csv")):
        for row in of_file(path):
            found.setdefault((row["experiment"], row["size"], row["claim"]), row)
    if not found:
        raise UserError(f"no claims under {results}/: run `snakemake --cores 2` first")
    return list(found.values())
