"""Origins of partitions and optima: the specifications from which these shared files are made."""

import contextlib
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments import SIZES
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.dependencies import optimum_file, partition_file
from fedatlas.federation.partitions import is_split
from fedatlas.workflow.study import RESULTS, Study


class Origins:
    """Origins of the partitions and optima of a study, by path below ``results/``."""

    def __init__(self, study: Study) -> None:
        """Create the origins of a study, which are collected as experiments are read."""
        self.study = study
        self._origins: dict[str, dict[str, Any]] = {}

    def files(self, spec: CellSpec) -> dict[str, str]:
        """Return the files that a cell needs: the ``partition`` of its data, the ``optimum`` of its problem."""
        files = {}
        if is_split(spec.problem.get("partition")):
            files["partition"] = partition_file(spec)
        if spec.optimum:
            files["optimum"] = optimum_file(spec)
        self._origins |= dict(files.values())
        return {name: self.study.folders.result(path) for name, (path, _) in files.items()}

    def find(self, folder: str, key: str) -> dict[str, Any]:
        """Return the origin of a file: the problem, or data and partition, and the number of clients.

        Args:
            folder: ``partitions`` or ``optima``.
            key: Name of the file without its suffix.

        Raises:
            UserError: No experiment needs the file.
        """
        path = f"{RESULTS}/{folder}/{key}.npz"
        for size, name in ((size, name) for size in SIZES for name in self.study.files.paths):
            if path in self._origins:
                break
            with contextlib.suppress(UserError):  # a mistake in an experiment is reported when it is a target
                for cell in self.study.cells(size, name).values():
                    self.files(cell.spec)
        if path not in self._origins:
            raise UserError(f"no experiment needs {self.study.folders.result(path)}")
        return self._origins[path]
