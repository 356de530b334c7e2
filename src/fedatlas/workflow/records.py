"""Cells of a study that a record holds: what the workflow restores in place of computing it."""

import functools
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from fedatlas.data import prepared
from fedatlas.data.paths import prepared_folder, resolve_directory
from fedatlas.experiments.cells import CASE, Cell
from fedatlas.experiments.dependencies import cell_modules
from fedatlas.experiments.fingerprint import fingerprint
from fedatlas.experiments.result_files import read_meta
from fedatlas.records.record import Record, RecordedCell, Restoration, read_record
from fedatlas.records.signatures import Signature, read_signatures, signers
from fedatlas.workflow.configuration import shipped
from fedatlas.workflow.study import Study

FOLDER = "record"
USE, IGNORE, ANY = "use", "ignore", "any"  # values of the key `record` of the configuration


class Restored(NamedTuple):
    """A run file that a record gives.

    Attributes:
        record: Path of the record.
        checksum: Checksum of its numbers.
        restoration: What is restored.
        signatures: Signatures of the cell for today's code.
    """

    record: Path
    checksum: str
    restoration: Restoration
    signatures: list[Signature]

    @property
    def job(self) -> dict[str, Any]:
        """The specification of the job that writes the file."""
        return {"path": str(self.record), "restoration": self.restoration._asdict()}


def folders(study: Study) -> list[Path]:
    """Return the folders of records: that of the study, and that of fedatlas."""
    return list(dict.fromkeys([study.root.resolve() / FOLDER, shipped().resolve() / FOLDER]))


def record_paths(study: Study) -> dict[tuple[str, str], Path]:
    """Return the paths of all records by (size, experiment). A study's own comes before that of fedatlas."""
    paths = [path for folder in reversed(folders(study)) for path in sorted(folder.glob("*/*.parquet"))]
    return {(path.parent.name, path.stem): path for path in paths}


def all_signatures(study: Study) -> list[Signature]:
    """Return the signatures of all folders of records."""
    return [signature for folder in folders(study) for signature in read_signatures(folder)]


def lacking_cells(study: Study, size: str, name: str) -> list[Cell]:
    """Return the cells of an experiment, as its file is now, that its record lacks: all where it has no record."""
    path = record_paths(study).get((size, name))
    held = None if path is None else read_record(path)
    return [cell for cell in study.cells(size, name).values() if held is None or held.find(cell) is None]


def lacking_cases(study: Study, size: str, name: str) -> list[str]:
    """Return the cases of an experiment of which its record has nothing yet."""
    cells = [cell for cell in study.cells(size, name).values() if CASE in cell.point]
    missing = Counter(cell.point[CASE] for cell in lacking_cells(study, size, name) if CASE in cell.point)
    return [case for case, count in Counter(cell.point[CASE] for cell in cells).items() if missing[case] == count]


class Records:
    """The records of the experiments of a study.

    Attributes:
        study: The study.
        policy: ``use`` signed cells, ``ignore`` all, or use ``any`` cell.
    """

    def __init__(self, study: Study) -> None:
        """Create the records of a study."""
        self.study, self.policy = study, study.config["record"]

    @functools.cache  # noqa: B019  as long as its process
    def record(self, size: str, name: str) -> Record | None:
        """Return the record of an experiment. Raises UserError if its file was damaged."""
        path = self._paths.get((size, name)) if self.policy != IGNORE else None
        return None if path is None else read_record(path)

    @functools.cached_property
    def _paths(self) -> dict[tuple[str, str], Path]:
        return record_paths(self.study)

    @functools.cached_property
    def signatures(self) -> list[Signature]:
        """All signatures."""
        return all_signatures(self.study)

    @functools.cache  # noqa: B019
    def files(self, size: str, name: str) -> dict[str, Restored]:
        """Return the run files of an experiment that are restored, by path below the folder of its results.

        A file that a job has computed here is left as it is.
        """
        held = self.held(size, name)
        return {path: restored for path, restored in held.items() if not self._is_computed(size, name, path)}

    @functools.cache  # noqa: B019
    def held(self, size: str, name: str) -> dict[str, Restored]:
        """Return what records give of an experiment, by path below the folder of its results.

        A cell is taken if the record of the experiment, or of one that it extends, has it with today's specification
        and data, and if its code as it is today is signed.
        """
        names = (name, *self.study.files.bases(name)) if self._paths and self.policy != IGNORE else ()
        records = [record for base in names if (record := self.record(size, base)) is not None]
        if not records:
            return {}
        looks = self.study.experiment(size, name).looks
        result = {}
        for cell in self.study.cells(size, name).values():
            for folder, seeds in _looks(cell, looks):
                found = (self._restored(record, cell, seeds) for record in records)
                if restored := next(filter(None, found), None):
                    result[f"{folder}/{cell.id}/{cell.key}.parquet"] = restored
        return result

    def _restored(self, record: Record, cell: Cell, seeds: list[int]) -> Restored | None:
        """Return what a record gives of a cell with some seeds."""
        recorded = record.find(replace(cell, spec=replace(cell.spec, seeds=seeds)))
        if recorded is None or not self._has_equal_data(recorded):
            return None
        code = fingerprint(cell_modules(cell.spec))
        signatures = signers(self.signatures, record.path.parent.name, record.path.stem, code)
        if not signatures and self.policy != ANY:
            return None
        restoration = Restoration(cell.id, cell.key, seeds, code, bool(signatures))
        return Restored(record.path, record.checksum, restoration, signatures)

    def find(self, w: Any) -> Restored | None:
        """Return what a record gives of the run file that wildcards name; None where it is computed."""
        folder = f"runs-{w.seeds}" if hasattr(w, "seeds") else "runs"
        return self.files(w.size, w.experiment).get(f"{folder}/{w.id}/{w.key}.parquet")

    def _has_equal_data(self, cell: RecordedCell) -> bool:
        """Return whether the data that lie here, if any do, are those of the record."""
        return all(
            (here := self._provenance(data)) is None or _hashes(here) == _hashes(there)
            for data, there in cell.meta["data"].items()
        )

    @functools.cache  # noqa: B019
    def _provenance(self, data: str) -> dict[str, Any] | None:
        meta = prepared.read_meta(prepared_folder(resolve_directory(self.study.folders.data), data))
        return None if meta is None else meta.provenance

    def _is_computed(self, size: str, name: str, path: str) -> bool:
        """Return whether a job has computed a run file."""
        file = Path(self.study.folders.report(size, name)) / path
        return file.exists() and read_meta(file).get("recorded", False) is False


def _hashes(provenance: dict[str, Any]) -> dict[str, str]:
    """Return the hashes of the files of a data set by name."""
    return {file["name"]: file["sha256"] for file in provenance["files"]}


def _looks(cell: Cell, looks: list[int]) -> Iterator[tuple[str, list[int]]]:
    """Yield the folders of a cell's run files with their scoring seeds."""
    yield "runs", cell.spec.seeds
    for count in looks[1:]:
        yield f"runs-{count}", list(range(count))
