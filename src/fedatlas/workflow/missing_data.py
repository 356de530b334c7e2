"""Data sets that no run of an experiment needs and that would have to be downloaded."""

import functools
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from fedatlas.data.store import is_local
from fedatlas.workflow.records import Records
from fedatlas.workflow.study import Study


class MissingData:
    """The data sets that the experiments of a study do without.

    Runs that come from a record need no data. So that such an experiment is made without a network, a figure of data
    that would have to be downloaded for it alone is left out, and a check of such data is not tested.
    """

    def __init__(self, study: Study, records: Records) -> None:
        """Create the missing data of a study, whose runs come from these records."""
        self.study, self.records = study, records

    @functools.cache  # noqa: B019  a job that prepares data meanwhile changes no plan
    def names(self, size: str, name: str) -> list[str]:
        """Return the names of the data sets that an experiment does without."""
        by_run: dict[str, bool] = {}  # whether a run that is computed needs the data set
        for (id, key), cell in self.study.cells(size, name).items():
            is_computed = not self.records.find(SimpleNamespace(size=size, experiment=name, id=id, key=key))
            for data in data_names(cell.spec.problem):
                by_run[data] = by_run.get(data, False) or is_computed
        folder, mirrors = self.study.folders.data, self.study.config["data_mirrors"]
        return [data for data, needed in by_run.items() if not needed and not is_local(data, folder, mirrors)]


def data_names(problem: Mapping[str, Any]) -> list[str]:
    """Return the names of the data sets of a problem."""
    return [problem[key] for key in ("data", "test") if problem.get(key)]
