"""The code behind the jobs of a study: the modules of each rule's job, by its wildcards."""

from typing import Any

from fedatlas.data import sources
from fedatlas.experiments.cells import Cell
from fedatlas.experiments.dependencies import run_file_modules
from fedatlas.results.figures import FIGURES
from fedatlas.workflow import dependencies
from fedatlas.workflow.origins import Origins
from fedatlas.workflow.study import Study


class Code:
    """The modules behind the jobs of a study. Methods take ``w``, the wildcards of a job."""

    def __init__(self, study: Study, origins: Origins) -> None:
        """Create the code of a study, whose partitions and optima have these origins."""
        self.study, self.origins = study, origins

    def modules(self, rule: str, w: Any) -> list[str]:
        """Return the modules behind the job of a rule."""
        return getattr(self, f"_{rule}")(w)

    def _cells(self, w: Any) -> list[Cell]:
        return list(self.study.cells(w.size, w.experiment).values())

    @staticmethod
    def _track(_w: Any) -> list[str]:
        return [dependencies.of_job("track")]

    @staticmethod
    def _report(_w: Any) -> list[str]:
        return [dependencies.of_job("report")]

    @staticmethod
    def _prepare(w: Any) -> list[str]:
        return sources.modules(sources.info(w.data))

    def _partition(self, w: Any) -> list[str]:
        return dependencies.of_partition(self.origins.find("partitions", w.key)["partition"])

    def _optimum(self, w: Any) -> list[str]:
        return dependencies.of_optimum(self.origins.find("optima", w.key)["problem"])

    def _train(self, w: Any) -> list[str]:
        return run_file_modules(self.study.cells(w.size, w.experiment)[w.id, w.key].spec)

    _add_seeds = _train

    def _table(self, w: Any) -> list[str]:
        return dependencies.of_table(self._cells(w))

    def _claims(self, w: Any) -> list[str]:
        return dependencies.of_claims(self.study.experiment(w.size, w.experiment), self._cells(w))

    def _interim_analysis(self, w: Any) -> list[str]:
        return [*self._claims(w), *self._table(w), dependencies.of_job("interim_analysis")]

    def _figure(self, w: Any) -> list[str]:
        kind = FIGURES.build(self.study.experiment(w.size, w.experiment).figures[w.figure].spec)
        return dependencies.of_figure(kind, self._cells(w))

    _figure_table = _figure
