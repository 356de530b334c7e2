"""Cells of a study that a record holds: what the workflow restores in place of computing it.

Of a study, this room uses its folders, its configuration, and its experiments with their cells.
"""

import functools
import hashlib
import itertools
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.data import sources
from fedatlas.data.dataset import read_prepared
from fedatlas.data.paths import prepared_folder, resolve_directory
from fedatlas.experiments.cells import Cell, CellSpec
from fedatlas.experiments.dependencies import cell_modules, data_names, run_file_modules
from fedatlas.experiments.fingerprint import fingerprint, module_hashes
from fedatlas.experiments.result_files import read_meta
from fedatlas.federation.partitions import PARTITIONS, is_split
from fedatlas.io.files import PREFIX, read_bytes
from fedatlas.records.record import Record, RecordedCell, Restoration, read_record
from fedatlas.records.verified import Held, Place, Verifications, find_verified, read_verifications

if TYPE_CHECKING:
    from fedatlas.workflow.study import Study

IGNORE, ANY = "ignore", "any"  # values of the key `record` of the configuration; the other one is "use"
PARTITION_JOB, OPTIMUM_JOB = "fedatlas.workflow.jobs.partition", "fedatlas.workflow.jobs.optimum"


def record_paths(study: "Study") -> dict[tuple[str, str], Path]:
    """Return the folders of all records by (size, experiment). A study's own comes before that of fedatlas."""
    paths = [path.parent for folder in reversed(study.record_folders) for path in sorted(folder.glob("*/*/*.parquet"))]
    return {(path.parent.name, path.name): path for path in paths if not path.name.startswith(PREFIX)}


def all_verifications(study: "Study") -> Verifications:
    """Return the verifications of all folders of records. A study's own come last, as what was seen on this machine."""
    return read_verifications(*reversed(study.record_folders))


def lacking_cells(study: "Study", size: str, name: str) -> list[Cell]:
    """Return the cells of an experiment, as its file is now, that its record lacks: all where it has no record."""
    path = record_paths(study).get((size, name))
    held = None if path is None else read_record(path)
    return [cell for cell in study.cells(size, name).values() if held is None or held.find(cell) is None]


def held_cells(study: "Study", size: str, name: str, record: Record) -> dict[Place, Held]:
    """Return those cells of a record that its experiment has, as its file is now, with today's code."""
    if name not in study.files.paths:
        return {}
    cells = ((place, record.find(cell)) for place, cell in study.cells(size, name).items())
    return {place: Held(found, module_hashes(result_modules(found.spec))) for place, found in cells if found}


class Records:
    """The records of the experiments of a study.

    Attributes:
        study: The study.
        policy: ``use`` verified cells, ``ignore`` all, or use ``any`` cell.
    """

    def __init__(self, study: "Study") -> None:
        """Create the records of a study."""
        self.study, self.policy = study, study.config["record"]

    @functools.cached_property
    def _paths(self) -> dict[tuple[str, str], Path]:
        return record_paths(self.study) if self.policy != IGNORE else {}

    @functools.cached_property
    def _verifications(self) -> Verifications:
        return all_verifications(self.study)

    @functools.cache  # noqa: B019  as long as its process
    def _read(self, size: str, name: str) -> tuple[Record, set[Place]] | None:
        """Return a record with the cells that count as verified. Raises UserError if it was damaged."""
        if (path := self._paths.get((size, name))) is None:
            return None
        record, known = read_record(path), self._verifications
        return record, find_verified(held_cells(self.study, size, name, record), known.of(size, name), known.states)

    @functools.cache  # noqa: B019
    def held(self, size: str, name: str) -> dict[str, Restoration]:
        """Return what records give of an experiment, by path below the folder of its results.

        A cell is taken if the record of the experiment, or of one that it extends, has it with today's specification
        and data, and if a verification holds for today's code.
        """
        names = (name, *self.study.files.bases(name)) if self._paths else ()
        found = [held for base in names if (held := self._read(size, base)) is not None]
        if not found:
            return {}
        analyses = self.study.experiment(size, name).analyses
        result = {}
        for cell in self.study.cells(size, name).values():
            seeds_of = {"runs": cell.spec.seeds} | {f"runs-{count}": list(range(count)) for count in analyses[1:]}
            for (folder, seeds), (record, verified) in itertools.product(seeds_of.items(), reversed(found)):
                recorded = record.find(replace(cell, spec=replace(cell.spec, seeds=seeds)))
                is_verified = (cell.id, cell.key) in verified
                if recorded and (is_verified or self.policy == ANY) and self._has_equal_data(recorded):
                    code = fingerprint(cell_modules(cell.spec))
                    source = (str(recorded.path), recorded.key, recorded.checksum)
                    result[f"{folder}/{cell.id}/{cell.key}.parquet"] = Restoration(*source, seeds, code, is_verified)
        return result

    def find(self, w: Any) -> Restoration | None:
        """Return what a record gives of the run file that wildcards name; None where a job computes or computed it."""
        path = f"runs-{w.seeds}" if hasattr(w, "seeds") else "runs"
        path += f"/{w.id}/{w.key}.parquet"
        restoration = self.held(w.size, w.experiment).get(path)
        return restoration if restoration and not self._is_computed(w.size, w.experiment, path) else None

    @functools.cache  # noqa: B019
    def _is_computed(self, size: str, name: str, path: str) -> bool:
        """Return whether a job has computed a run file, which is then left as it is."""
        file = Path(self.study.folders.experiment(size, name)) / path
        return file.exists() and read_meta(file).get("recorded", False) is False

    def _has_equal_data(self, cell: RecordedCell) -> bool:
        """Return whether the data of a record are those of today, and those that lie here, if any do."""
        for name, held in cell.meta.data.items():
            source, arrays = self._data(name)
            if source != held["source"] or arrays not in (None, held["arrays"]):
                return False
        return all(
            Path(path).is_file() and hashlib.sha256(read_bytes(path)).hexdigest() == checksum
            for path, checksum in cell.meta.traces.items()
        )

    @functools.cache  # noqa: B019
    def _data(self, name: str) -> tuple[str, str | None]:
        """Return the digests of the source of a data set and of its prepared form, if there is one."""
        root = resolve_directory(self.study.folders.data)
        meta = read_prepared(prepared_folder(root, name))
        return sources.digest(sources.info(name, root)), None if meta is None else meta.digest


def result_modules(spec: CellSpec) -> list[str]:
    """Return the modules behind all that a run file holds.

    They are those of the run file, and those that made its inputs: the partition, the optimum, and the prepared data.
    """
    modules = {*run_file_modules(spec)}
    if is_split(partition := spec.problem.get("partition")):
        modules |= {PARTITION_JOB, PARTITIONS.module(partition)}
    if spec.optimum:
        modules.add(OPTIMUM_JOB)
    for name in data_names(spec):
        modules.update(sources.modules(sources.info(name)))
    return sorted(modules)
