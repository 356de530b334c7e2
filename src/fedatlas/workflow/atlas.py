"""What the workflow asks of the configuration: which files exist, from what they are made, with which parameters."""

import functools
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fedatlas.data import sources
from fedatlas.data.paths import MIRRORS_VARIABLE, format_mirrors, list_mirrors
from fedatlas.errors import UserError, did_you_mean
from fedatlas.experiments import expansion, experiment_file
from fedatlas.experiments.cells import Cell, CellSpec
from fedatlas.experiments.dependencies import run_file_modules, trace_files
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.experiments.specification import Experiment
from fedatlas.experiments.tables import Layout
from fedatlas.federation.partitions import is_split
from fedatlas.publish.report.about import about
from fedatlas.publish.tracking import addresses
from fedatlas.registry import extensions
from fedatlas.results.claims import tested
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.base import Figure
from fedatlas.workflow import EXTRAS, LIVE, code, inputs
from fedatlas.workflow.experiment_files import ExperimentFiles
from fedatlas.workflow.input_files import input_files
from fedatlas.workflow.made_files import optimum_file, partition_file
from fedatlas.workflow.parameters import text
from fedatlas.workflow.study_folders import Folders
from fedatlas.workflow.validation import validate


class Atlas:
    """The experiments of a study.

    config: the workflow's configuration, with all keys (see `project.completed`). root: the study's folder. folders:
    where its results and data lie, by default as config says. shipped: the folder of the atlas's own experiments, which
    a study can name besides its own; a name that both have means the study's. All paths that are returned are relative
    to the working directory. Methods that take ``w`` serve Snakemake: w are a job's wildcards.
    """

    def __init__(
        self,
        config: dict[str, Any],
        root: str | Path = ".",
        folders: Folders | None = None,
        shipped: Path | None = None,
    ) -> None:
        self.config, self.root, self.folders = config, Path(root), folders or Folders.of(config)
        self.files = ExperimentFiles(self.root, config["experiments_folder"], shipped)
        self.paths = self.files.paths
        named = [] if self.config["experiments"] == "all" else self.config["experiments"]
        for name in [*self.config["tour"], *named, *(name for _, name in self.gallery())]:
            self._known(name)
        self._origins: dict[str, dict[str, Any]] = {}

    def _known(self, name: str) -> None:
        if name not in self.paths:
            raise UserError(f"config/config.yaml: unknown experiment {name!r}{did_you_mean(name, self.paths)}")

    def environment(self) -> dict[str, str]:
        """Environment variables of jobs. They are not parameters of rules: another mirror makes nothing again.

        Raises UserError if the mirrors or the place for MLflow runs are none.
        """
        addresses.check(self.config["mlflow_uri"])
        given = format_mirrors(list_mirrors(self.config["data_mirrors"]))
        found = {"FEDATLAS_DATA": self.folders.data, MIRRORS_VARIABLE: given}
        found[extensions.VARIABLE] = extensions.environment_value(Path.cwd(), self.config["extensions"])
        uri = self.config["mlflow_uri"]  # an SQLite file is for one writer: it gets its runs when an experiment is done
        found[EXTRAS] = ",".join(self.config["mlflow_extras"])
        return found | {LIVE: uri if uri.startswith("http") else ""}

    def selected(self) -> list[str]:
        """Names of the experiments of the target all."""
        return list(self.files.own) if self.config["experiments"] == "all" else self.config["experiments"]

    def experiment(self, size: str, name: str) -> Experiment:
        """A loaded and checked experiment."""
        self._known(name)
        return self._checked(size, name)[0]

    @functools.cache  # noqa: B019  an Atlas lives as long as its process
    def _checked(self, size: str, name: str) -> tuple[Experiment, expansion.Expansion]:
        with extensions.translate_errors():
            loaded = self.files.load(name, size)
            found = expansion.expand(loaded)
            validate(loaded, found.cells)
        return loaded, found

    def view(self, w: Any) -> ExperimentView:
        """What tables, figures and claims know of an experiment."""
        e, found = self._checked(w.size, w.experiment)
        return expansion.create_view(e, found.undefined)

    @functools.cache  # noqa: B019
    def cells(self, size: str, name: str) -> dict[tuple[str, str], Cell]:
        """Cells of an experiment by (algorithm id, key)."""
        self._known(name)
        return {(cell.id, cell.key): cell for cell in self._checked(size, name)[1].cells}

    def _cells(self, w: Any) -> list[Cell]:
        return list(self.cells(w.size, w.experiment).values())

    def _cell(self, w: Any) -> Cell:
        cells = self.cells(w.size, w.experiment)
        if (w.id, w.key) not in cells:
            raise UserError(f"{w.experiment} (size {w.size}) has no run file {w.id}/{w.key}.parquet")
        return cells[w.id, w.key]

    def code(self, modules: Iterable[str]) -> list[str]:
        """Paths of the fingerprint files of modules, which all modules of a workflow share."""
        return [self.folders.shared(self.folders.result(path)) for path in code.files(modules)]

    # -- run files -------------------------------------------------------------------------------------------------

    def spec(self, w: Any) -> str:
        """Specification of a cell."""
        return text(self._cell(w).spec.plain(), ordered=False)

    def run_files(self, w: Any) -> list[str]:
        """Paths of all run files of an experiment, in the order of its cells."""
        directory = self.folders.experiment(w.size, w.experiment)
        return [f"{directory}/runs/{id}/{key}.parquet" for id, key in self.cells(w.size, w.experiment)]

    def run_inputs(self, w: Any) -> dict[str, Any]:
        """Inputs of a run file: code, data, partition, optimum, traces."""
        spec = self._cell(w).spec
        found: dict[str, Any] = {"code": self.code(run_file_modules(spec)), "data": self.data_of(spec.problem)}
        if is_split(spec.problem.get("partition")):
            found["partition"] = self.partition_file(spec)
        if spec.optimum:
            found["optimum"] = self.optimum_file(spec)
        if traces := trace_files(spec):
            found["traces"] = [self.folders.shared(path) for path in traces]
        return found

    def data_of(self, problem: dict[str, Any]) -> list[str]:
        """Prepared data of a problem, as paths that rules make."""
        names = [problem[key] for key in ("data", "test") if problem.get(key)]
        return [self.folders.prepared(name) for name in names]

    def problem(self, w: Any) -> dict[str, Any]:
        """The problem of a cell, from which follows what its job asks of a machine."""
        return self._cell(w).spec.problem

    # -- partitions and optima: files named by what they are made from ---------------------------------------------

    def partition_file(self, spec: CellSpec) -> str:
        """Partition that a cell's data are split by."""
        path, origin = partition_file(spec)
        path = self.folders.result(path)
        self._origins[path] = origin
        return path

    def optimum_file(self, spec: CellSpec) -> str:
        """Optimum of a cell's problem."""
        path, origin = optimum_file(spec)
        path = self.folders.result(path)
        self._origins[path] = origin
        return path

    def origin(self, w: Any, folder: str) -> dict[str, Any]:
        """The problem, or data and partition, and the number of clients that a file of a folder is made from."""
        path = self.folders.result(f"{folder}/{w.key}.npz")
        for size, name in ((s, n) for s in experiment_file.SIZES for n in self.paths):
            if path in self._origins:
                break
            self._scan(size, name)
        if path not in self._origins:
            raise UserError(f"no experiment needs {path}")
        return self._origins[path]

    def _scan(self, size: str, name: str) -> None:
        try:
            specs = [cell.spec for cell in self.cells(size, name).values()]
        except UserError:
            return  # another experiment's mistake is reported when that one is asked for
        for spec in specs:
            if is_split(spec.problem.get("partition")):
                self.partition_file(spec)
            if spec.optimum:
                self.optimum_file(spec)

    def partition_inputs(self, w: Any) -> dict[str, Any]:
        """Inputs of a partition: code and the data whose labels are split."""
        origin = self.origin(w, "partitions")
        found = code.of_partition(origin["partition"])
        return {"code": self.code(found), "data": self.data_of({"data": origin["data"]})}

    def optimum_inputs(self, w: Any) -> dict[str, Any]:
        """Inputs of an optimum: code and data, and the partition where it is by the clients of the data."""
        origin = self.origin(w, "optima")
        found = {"code": self.code(code.of_optimum(origin["problem"])), "data": self.data_of(origin["problem"])}
        return found | {key: self.folders.result(path) for key, path in origin.items() if key == "partition"}

    # -- tables, figures, claims, report ---------------------------------------------------------------------------

    def layout(self, w: Any) -> str:
        """What the table needs to know of an experiment."""
        e = self.experiment(w.size, w.experiment)
        view = self.view(w)
        return text(Layout(list(e.grid), list(e.within), view.tune, e.select).plain())

    def figure(self, w: Any) -> tuple[Figure, dict[str, Any]]:
        """A figure's kind, and its specification without the caption."""
        spec = self.experiment(w.size, w.experiment).figures[w.figure].spec
        return FIGURES.build(spec), spec

    def figure_spec(self, w: Any) -> str:
        """What a figure is drawn from, besides table and curves."""
        kind, plain = self.figure(w)
        view = self.view(w).plain() if kind.draws_results else None
        asked = inputs.specify(kind, self._cells(w))
        return text({"figure": plain, "view": view, "inputs": self.folders.lying(asked)})

    def figure_inputs(self, w: Any) -> dict[str, Any]:
        """Inputs of a figure: code, the table and curves if it draws results, and what else its kind asks for."""
        kind, _ = self.figure(w)
        found: dict[str, Any] = {"code": self.code(code.of_figure(kind, self._cells(w)))}
        if kind.draws_results:
            folder = self.folders.experiment(w.size, w.experiment)
            found |= {name: f"{folder}/{name}.parquet" for name in ("table", "curves")}
        return found | input_files(self, kind.inputs, w)

    def caption(self, w: Any) -> str:
        """A figure's caption."""
        return self.experiment(w.size, w.experiment).figures[w.figure].caption

    def claims_spec(self, w: Any) -> str:
        """The claims of an experiment, and what their checks know of it."""
        e = self.experiment(w.size, w.experiment)
        claims = {name: vars(claim) for name, claim in e.claims.items()}
        timed = inputs.specify_checks(tested(e.claims, e.size), self._cells(w))
        return text({"view": self.view(w).plain(), "claims": claims, "inputs": self.folders.lying(timed)})

    def claims_inputs(self, w: Any) -> dict[str, Any]:
        """Inputs of the claims of an experiment: code, its results, and what else their checks ask for."""
        e, folder = self.experiment(w.size, w.experiment), self.folders.experiment(w.size, w.experiment)
        found: dict[str, Any] = {"code": self.code(code.of_claims(e, self._cells(w)))}
        found |= {name: f"{folder}/{name}.parquet" for name in ("table", "curves", "trials")}
        return found | input_files(self, inputs.specify_checks(tested(e.claims, e.size), self._cells(w)), w)

    def table_code(self, w: Any) -> list[str]:
        """Code behind the table of an experiment."""
        return self.code(code.of_table(self._cells(w)))

    def about(self, w: Any) -> str:
        """What report and MLflow show of an experiment besides its results."""
        e = self.experiment(w.size, w.experiment)
        return text(about(e, self.view(w)).plain())

    def live(self, w: Any) -> str:
        """The option with which a train job logs its runs to an MLflow server as it ends; empty without a server."""
        return f"--about {shlex.quote(self.about(w))}" if self.environment()[LIVE] else ""

    def figure_files(self, size: str, name: str) -> list[str]:
        """Paths of all figures of an experiment, as PNG."""
        figures = self.experiment(size, name).figures
        return [f"{self.folders.experiment(size, name)}/figures/{figure}.png" for figure in figures]

    def parts(self, size: str, names: list[str]) -> list[str]:
        """What a report over experiments shows."""
        files = ("about.json", "table.parquet", "claims.csv")
        found = [f"{self.folders.experiment(size, name)}/{file}" for name in names for file in files]
        return found + [path for name in names for path in self.figure_files(size, name)]

    def gallery(self) -> list[tuple[str, str]]:
        """Sizes and names of the experiments of the gallery."""
        return [(size, name) for size, names in self.config["gallery"].items() for name in names]

    def verdicts(self) -> list[str]:
        """The file of the verdicts that are committed with the gallery, if there is one."""
        path = "docs/gallery/claims.csv"
        return [self.folders.shared(path)] if Path(path).exists() else []

    def receipts(self, size: str, names: list[str]) -> list[str]:
        """Receipts, files that say that experiments were logged to MLflow."""
        return [f"{self.folders.experiment(size, name)}/mlflow.json" for name in names]

    @staticmethod
    def source(w: Any) -> str:
        """The entry of a data set."""
        return repr(sources.info(w.data))

    @staticmethod
    def own_files(w: Any) -> list[str]:
        """Paths of the files of own data; none of a data set of the catalogue."""
        return list(getattr(sources.info(w.data), "paths", ()))

    def source_code(self, w: Any) -> list[str]:
        """Code that prepares a data set."""
        return self.code(sources.modules(sources.info(w.data)))
