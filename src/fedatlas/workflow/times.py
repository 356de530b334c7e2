"""How long experiments take, and how much memory: measured where that was done, else estimated.

``python -m fedatlas.workflow.times RESULTS ...`` writes the file that the atlas ships. A time is the sum over all runs
of an experiment of the seconds in its run files: those of training on one processor, without evaluation. Memory is what
the job of the largest cell asks a scheduler for. Times of experiments that were not run are estimated
(`fedatlas.workflow.work`).
"""

import csv
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments.experiment_file import SIZES
from fedatlas.experiments.metadata import TableMeta
from fedatlas.experiments.result_files import read_meta
from fedatlas.io.files import atomic
from fedatlas.workflow import needs, work
from fedatlas.workflow.atlas import Atlas
from fedatlas.workflow.experiment_files import FOLDER
from fedatlas.workflow.project import here, shipped

FILE = "times.csv"  # beside the experiments of the atlas


@dataclass(frozen=True)
class Took:
    """What an experiment takes at a size.

    runs: their number. seconds: of one processor, None where nothing is known. measured: whether the seconds are;
    others are estimated. memory_mb: of the largest job, 0 where it is not known.
    """

    runs: int
    seconds: float | None
    measured: bool
    memory_mb: int = 0


def known(atlas: Atlas) -> dict[tuple[str, str], Took]:
    """What is known of experiments, by (name, size): as measured in this study, else as the atlas has measured."""
    found = shipped_times()
    if atlas.files.shipped is not None:  # a study's own experiment may have the name of another
        found = {key: took for key, took in found.items() if key[0] not in atlas.files.own}
    for key, took in measured(Path(atlas.folders.results), atlas.paths).items():
        found[key] = replace(took, memory_mb=found[key].memory_mb if key in found else 0)
    return found


def shipped_times() -> dict[tuple[str, str], Took]:
    """What the file of the atlas says."""
    return _read(shipped() / FOLDER / FILE)


def measured(results: Path, names: Iterable[str]) -> dict[tuple[str, str], Took]:
    """What the tables in a folder of results say. names: of the experiments that are asked for."""
    found = {}
    for size, name in ((size, name) for name in names for size in SIZES):
        path = results / size / name / "table.parquet"
        if path.is_file():
            try:
                meta = TableMeta.of(read_meta(path))
            except (UserError, TypeError):
                continue  # of another version; the workflow makes it again
            found[name, size] = Took(meta.runs, meta.seconds, True)
    return found


def _read(path: Path) -> dict[tuple[str, str], Took]:
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {(row["experiment"], row["size"]): _took(row) for row in csv.DictReader(file)}


def _took(row: Mapping[str, str]) -> Took:
    seconds = float(row["seconds"]) if row["seconds"] else None
    return Took(int(row["runs"]), seconds, row["measured"] == "yes", int(row["memory_mb"]))


def write(atlas: Atlas, folders: Iterable[Path], path: Path) -> None:
    """Write the file of a study's own experiments.

    folders: of results; a later one counts more. What the file has measured before is kept.
    """
    found = {key: took for key, took in _read(path).items() if took.measured}
    for folder in folders:
        found |= measured(folder, atlas.files.own)
    done: dict[tuple[str, str], work.Work] = {}
    memory: dict[tuple[str, str], int] = {}
    for name in atlas.files.own:
        for size in _sizes(atlas, name):
            cells = atlas.cells(size, name).values()
            done[name, size] = work.of(cell.spec for cell in cells)
            memory[name, size] = max(needs.needs(cell.spec.problem)["mem_mb"] for cell in cells)
    seconds = work.seconds(done, {key: took.seconds for key, took in found.items() if took.seconds is not None})
    rows = []
    for key in done:
        took = found.get(key) or Took(done[key].runs, seconds.get(key), False)
        rows.append({"experiment": key[0], "size": key[1], **_plain(replace(took, memory_mb=memory[key]))})
    with atomic(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["experiment", "size", *(field.name for field in fields(Took))])
        writer.writeheader()
        writer.writerows(rows)


def _plain(took: Took) -> dict[str, Any]:
    rounded = "" if took.seconds is None else f"{took.seconds:{'.3g' if took.measured else '.2g'}}"
    return asdict(took) | {"seconds": rounded, "measured": "yes" if took.measured else "no"}


def _sizes(atlas: Atlas, name: str) -> list[str]:
    return [size for size in SIZES if size in atlas.files.document(name)["sizes"]]


if __name__ == "__main__":
    write(here(), map(Path, sys.argv[1:] or ["results"]), shipped() / FOLDER / FILE)
