"""The graph of a study's workflow: the inputs, outputs and parameters of its rules."""

import functools
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fedatlas.data import sources
from fedatlas.errors import UserError
from fedatlas.experiments.cells import Cell
from fedatlas.experiments.dependencies import run_file_modules, trace_files
from fedatlas.experiments.labels import SIMULATED
from fedatlas.experiments.tables import Layout
from fedatlas.io.files import update_text
from fedatlas.publish.report.cards import Card, read_cards
from fedatlas.publish.report.record_builder import build_record
from fedatlas.results.claims import checks_at_size
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.base import Figure
from fedatlas.workflow import LIVE, dependencies, inputs
from fedatlas.workflow.looks import read_undecided, seed_counts
from fedatlas.workflow.origins import Origins
from fedatlas.workflow.resources import group, launcher, resources
from fedatlas.workflow.specifications import Specification, digest, encode
from fedatlas.workflow.study import Study

GALLERY_VERDICTS, GALLERY_CARDS = "docs/gallery/claims.csv", "docs/gallery/cards.json"
SPECIFICATIONS = {  # the path of a specification under results/specs, by rule
    "train": "{w.size}/{w.experiment}/runs/{w.id}/{w.key}",
    "add_seeds": "{w.size}/{w.experiment}/runs-{w.seeds}/{w.id}/{w.key}",
    "look": "{w.size}/{w.experiment}/looks/{w.seeds}",
    "about": "{w.size}/{w.experiment}/about",
    "table": "{w.size}/{w.experiment}/table",
    "claims": "{w.size}/{w.experiment}/claims",
    "figure": "{w.size}/{w.experiment}/figures/{w.figure}",
    "partition": "partitions/{w.key}",
    "optimum": "optima/{w.key}",
}
LookFile = Callable[[str, str, int], str]  # from size, experiment and number of seeds to the file of a look


class Graph:
    """Inputs and parameters of the rules.

    Methods that take ``w`` serve Snakemake: w are a job's wildcards. All paths that are returned are relative to the
    working directory.
    """

    def __init__(self, study: Study, is_main: bool = True, look_file: LookFile | None = None) -> None:
        """Create the graph of a study.

        Args:
            study: The study.
            is_main: Whether this is the main process of Snakemake, which writes the specifications of jobs. The
                processes of single jobs find them.
            look_file: Returns the path of a look's file that is there, of a size, an experiment and a number of seeds.
                Snakemake's checkpoints make it again first where it is out of date.
        """
        self.study, self.folders, self.is_main = study, study.folders, is_main
        self._look_file = look_file or self.look_file
        self.origins = Origins(study)
        self._specifications: dict[str, Specification] = {}

    def cells(self, w: Any) -> list[Cell]:
        """Return the cells of an experiment."""
        return list(self.study.cells(w.size, w.experiment).values())

    def cell(self, w: Any) -> Cell:
        """Return the cell of a run file."""
        return self._cell(w.size, w.experiment, w.id, w.key)

    def _cell(self, size: str, name: str, id: str, key: str) -> Cell:
        cells = self.study.cells(size, name)
        if (id, key) not in cells:
            raise UserError(f"{name} (size {size}) has no run file {id}/{key}.parquet")
        return cells[id, key]

    def code(self, modules: Iterable[str]) -> list[str]:
        """Return the fingerprint files of modules, which all modules of a workflow share."""
        return [self.folders.shared(self.folders.result(path)) for path in dependencies.files(modules)]

    def specification(self, rule: str, w: Any) -> str:
        """Return the file of a job's specification, written if it holds another one.

        Each file has a folder of its own, since Snakemake may have listed a folder that jobs share before the file is
        written.
        """
        path = f"{self.folders.results}/specs/{SPECIFICATIONS[rule].format(w=w)}/spec.json"
        file = Path(self.folders.prefixed(path))
        text = self._specify(rule, w).text
        if self.is_main or not file.exists():
            update_text(file, text)
        return path

    def digest(self, rule: str, w: Any) -> str:
        """Return the digest of a job's specification."""
        return self._specify(rule, w).digest

    def _specify(self, rule: str, w: Any) -> Specification:
        key = SPECIFICATIONS[rule].format(w=w)
        if key not in self._specifications:
            text = getattr(self, f"{rule}_spec")(w)
            content = text
            if rule in ("train", "add_seeds"):
                content = self._train_file(rule, w, text)
            elif rule in ("partition", "optimum"):
                content = self._cached_file(text)
            self._specifications[key] = Specification(content, digest(text))
        return self._specifications[key]

    def train_spec(self, w: Any) -> str:
        """Return the specification of a cell."""
        return encode(self.cell(w).spec.plain(), ordered=False)

    def add_seeds_spec(self, w: Any) -> str:
        """Return the specification of a cell with the seeds of a look."""
        return encode(replace(self.cell(w).spec, seeds=list(range(int(w.seeds)))).plain(), ordered=False)

    def _train_file(self, rule: str, w: Any, spec: str) -> str:
        """Return the file of a train job: the cell, the files that it reads, and the words that are logged to a server.

        None but the cell's specification counts for its digest: the files are inputs.
        """
        paths = self.run_inputs(w) if rule == "train" else self.add_seeds_inputs(w)
        shared: dict[str, str] = {}
        for key in ("partition", "optimum", "earlier"):
            if key in paths:
                shared[key] = self.folders.prefixed(paths[key])
        if self._is_live:
            shared["about"] = self._specify("about", w).text
        return f'{{"cell": {spec}, {encode(shared)[1:]}' if shared else f'{{"cell": {spec}}}'

    def _cached_file(self, spec: str) -> str:
        """Return the file of a job whose output studies share in Snakemake's cache.

        The cache's key holds this file and the code, but not the content of the data. So where the files at hand decide
        which form of a data set is prepared, the file names the folder of the data.
        """
        origin = json.loads(spec)
        data = origin.get("problem", origin).get("data")
        if data is None or len(getattr(sources.info(data), "forms", ())) < 2:
            return spec
        return f'{{"data_folder": {encode(str(Path(self.folders.data).resolve()))}, {spec[1:]}'

    @functools.cached_property
    def _is_live(self) -> bool:
        """Return whether train jobs log their runs to an MLflow server as they end."""
        return bool(self.study.environment()[LIVE])

    def run_files(self, w: Any, last: int | None = None) -> list[str]:
        """Return the run files of an experiment, in the order of its cells.

        The first look that is not there follows them. As an input like all others, it is a reason to make again what
        was made before the experiment had this look, and the checkpoint that makes it renews the inputs.

        Args:
            w: Wildcards of size and experiment.
            last: Number of seeds of the last look; by default that of the experiment.
        """
        experiment, cells = self.study.experiment(w.size, w.experiment), self.cells(w)
        counts, absent = [0] * len(cells), list[str]()
        if looks := experiment.looks:
            algorithms = self.study.view(w.size, w.experiment).algorithms
            deterministic = [id for id, algorithm in algorithms.items() if algorithm.deterministic]

            def undecided(count: int) -> list[str]:
                if not Path(self.look_file(w.size, w.experiment, count)).exists():
                    absent.append(f"{self.folders.experiment(w.size, w.experiment)}/looks/{count}.json")
                    return []
                return read_undecided(self._look_file(w.size, w.experiment, count))

            counts = seed_counts(experiment, cells, deterministic, undecided, last or looks[-1])
        return [self._run_file(w, cell, count) for cell, count in zip(cells, counts, strict=True)] + absent

    def _run_file(self, w: Any, cell: Cell, count: int) -> str:
        """Return the run file of a cell with the seeds of a look."""
        looks, directory = self.study.view(w.size, w.experiment).looks, self.folders.experiment(w.size, w.experiment)
        folder = f"runs-{count}" if count in looks[1:] else "runs"
        return f"{directory}/{folder}/{cell.id}/{cell.key}.parquet"

    def add_seeds_inputs(self, w: Any) -> dict[str, Any]:
        """Return the inputs of a run file with the seeds of a look: with the file of the look before.

        Raises:
            UserError: The experiment has no look with so many seeds.
        """
        looks = self.study.experiment(w.size, w.experiment).looks
        if int(w.seeds) not in looks[1:]:
            raise UserError(f"{w.experiment} (size {w.size}) has no look at {w.seeds} seeds after the first")
        before = looks[looks.index(int(w.seeds)) - 1]
        return self.run_inputs(w) | {"earlier": self._run_file(w, self.cell(w), before)}

    def look_file(self, size: str, name: str, seeds: int) -> str:
        """Return the file of a look, which holds the claims that it leaves undecided."""
        return self.folders.prefixed(f"{self.folders.experiment(size, name)}/looks/{seeds}.json")

    def look_spec(self, w: Any) -> str:
        """Return the claims of an experiment, with the layout of its table and the number of seeds of a look."""
        return f'{{"claims": {self.claims_spec(w)}, "layout": {self.table_spec(w)}, "seeds": {int(w.seeds)}}}'

    def look_inputs(self, w: Any) -> dict[str, Any]:
        """Return the inputs of a look: code, the run files up to it, and the files of the checks' inputs."""
        files = self._claims_inputs(w, int(w.seeds))
        code = [*files["code"], *self.table_code(w), *self.code([dependencies.of_job("look")])]
        kept = {key: paths for key, paths in files.items() if key not in ("table", "curves", "trials")}
        return kept | {"code": sorted(set(code)), "runs": self.run_files(w, int(w.seeds))}

    def run_inputs(self, w: Any) -> dict[str, Any]:
        """Return the inputs of a run file: code, data, partition, optimum, traces, and the file whose runs it shares.

        A search on a given grid and one that extends this grid are two readings of the same runs.
        """
        files = dict(self._run_inputs(w.size, w.experiment, w.id, w.key))
        if before := self.study.beginnings(w.size, w.experiment).get((w.id, w.key)):
            files["earlier"] = self._run_file(w, before, 0)
        return files

    @functools.cache  # noqa: B019  a Graph lives as long as its process
    def _run_inputs(self, *key: str) -> dict[str, Any]:
        spec = self._cell(*key).spec
        files: dict[str, Any] = {"code": self.code(run_file_modules(spec)), "data": self.data_files(spec.problem)}
        files |= self.origins.files(spec)
        if traces := trace_files(spec):
            files["traces"] = [self.folders.shared(path) for path in traces]
        return files

    @functools.cache  # noqa: B019
    def _run_resources(self, cores: int, *key: str) -> dict[str, int]:
        return resources(self._cell(*key).spec.problem, cores)

    def run_resources(self, w: Any, cores: int = 1) -> dict[str, int]:
        """Return the resources of the job of a run file. cores: Its cores."""
        return self._run_resources(cores, w.size, w.experiment, w.id, w.key)

    def run_group(self, w: Any) -> str | None:
        """Return the group of the job of a run file."""
        return group(self.cell(w).spec.problem)

    def run_launcher(self, w: Any, request: Mapping[str, Any], cores: int) -> str:
        """Return the command that starts the tasks of the job of a run file. request: Resources. cores: Of a task."""
        return launcher(self.cell(w).spec, request, cores)

    def data_files(self, problem: Mapping[str, Any]) -> list[str]:
        """Return the prepared data of a problem, as paths that rules make."""
        names = [problem[key] for key in ("data", "test") if problem.get(key)]
        return [self.folders.prepared(name) for name in names]

    def partition_spec(self, w: Any) -> str:
        """Return the specification of a partition."""
        return encode(self.origins.find("partitions", w.key), ordered=False)

    def partition_inputs(self, w: Any) -> dict[str, Any]:
        """Return the inputs of a partition: code and the data whose labels are split."""
        origin = self.origins.find("partitions", w.key)
        modules = dependencies.of_partition(origin["partition"])
        return {"code": self.code(modules), "data": self.data_files({"data": origin["data"]})}

    def optimum_spec(self, w: Any) -> str:
        """Return the specification of an optimum."""
        return encode(self.folders.resolve(self.origins.find("optima", w.key)), ordered=False)

    def optimum_resources(self, w: Any) -> dict[str, int]:
        """Return the resources of the job of an optimum, whose solver holds the data."""
        return resources(self.origins.find("optima", w.key)["problem"])

    def optimum_inputs(self, w: Any) -> dict[str, Any]:
        """Return the inputs of an optimum: code, data, and the partition if F depends on it."""
        origin = self.origins.find("optima", w.key)
        problem = origin["problem"]
        files = {"code": self.code(dependencies.of_optimum(problem)), "data": self.data_files(problem)}
        return files | {key: self.folders.result(path) for key, path in origin.items() if key == "partition"}

    def table_spec(self, w: Any) -> str:
        """Return the layout of an experiment's table."""
        experiment, view = self.study.experiment(w.size, w.experiment), self.study.view(w.size, w.experiment)
        return encode(Layout(list(experiment.grid), list(experiment.within), view.tune, experiment.select).plain())

    def table_code(self, w: Any) -> list[str]:
        """Return the code of the table of an experiment."""
        return self.code(dependencies.of_table(self.cells(w)))

    def figure(self, w: Any) -> tuple[Figure, dict[str, Any]]:
        """Return a figure's kind, and its specification without the caption."""
        spec = self.study.experiment(w.size, w.experiment).figures[w.figure].spec
        return FIGURES.build(spec), spec

    def figure_spec(self, w: Any) -> str:
        """Return the specification of a figure's job."""
        kind, options = self.figure(w)
        view = self.study.view(w.size, w.experiment).plain() if kind.draws_results else None
        needed = inputs.specify(kind, self.cells(w))
        return encode({"figure": options, "view": view, "inputs": self.folders.resolve(needed)})

    def figure_inputs(self, w: Any) -> dict[str, Any]:
        """Return the inputs of a figure: code, table and curves if it draws results, and the files of its inputs."""
        kind, _ = self.figure(w)
        files: dict[str, Any] = {"code": self.code(dependencies.of_figure(kind, self.cells(w)))}
        if kind.draws_results:
            folder = self.folders.experiment(w.size, w.experiment)
            files |= {name: f"{folder}/{name}.parquet" for name in ("table", "curves")}
        return files | self._input_files(kind.inputs, w)

    def _input_files(self, names: Collection[str], w: Any, last: int | None = None) -> dict[str, Any]:
        """Return the files behind the inputs of figures and checks, by the names of inputs of a rule.

        Args:
            names: Names of modules in `fedatlas.workflow.inputs`.
            w: Wildcards of size and experiment.
            last: Number of seeds of the last look; by default that of the experiment.
        """
        needs, cells, files = set(names), self.cells(w), {}
        shared = [self.origins.files(cell.spec) for cell in cells] if needs else []
        if needs & {"partitions", "availability", "dissimilarities", SIMULATED}:
            files["partitions"] = list(dict.fromkeys(paths["partition"] for paths in shared if "partition" in paths))
        if needs & {"partitions", "availability", "theorems", "dissimilarities", SIMULATED}:
            files["data"] = list(dict.fromkeys(path for cell in cells for path in self.data_files(cell.spec.problem)))
        if "dissimilarities" in needs:
            files["optima"] = list(dict.fromkeys(paths["optimum"] for paths in shared if "optimum" in paths))
        if SIMULATED in needs:
            files["runs"] = self.run_files(w, last)
        if needs & {"availability", SIMULATED}:
            traces = sorted({path for cell in cells for path in trace_files(cell.spec)})
            files["traces"] = [self.folders.shared(path) for path in traces]
        return files

    def caption(self, w: Any) -> str:
        """Return a figure's caption."""
        return self.study.experiment(w.size, w.experiment).figures[w.figure].caption

    def claims_spec(self, w: Any) -> str:
        """Return the claims of an experiment with the view of its checks."""
        experiment = self.study.experiment(w.size, w.experiment)
        claims = {name: vars(claim) for name, claim in experiment.claims.items()}
        timed = inputs.specify_checks(checks_at_size(experiment.claims, experiment.size), self.cells(w))
        view = self.study.view(w.size, w.experiment).plain()
        return encode({"view": view, "claims": claims, "inputs": self.folders.resolve(timed)})

    def claims_inputs(self, w: Any) -> dict[str, Any]:
        """Return the inputs of an experiment's claims: code, its results, and the files of its checks' inputs."""
        return self._claims_inputs(w)

    def _claims_inputs(self, w: Any, last: int | None = None) -> dict[str, Any]:
        experiment, folder = self.study.experiment(w.size, w.experiment), self.folders.experiment(w.size, w.experiment)
        files: dict[str, Any] = {"code": self.code(dependencies.of_claims(experiment, self.cells(w)))}
        files |= {name: f"{folder}/{name}.parquet" for name in ("table", "curves", "trials")}
        return files | self._input_files(
            inputs.specify_checks(checks_at_size(experiment.claims, experiment.size), self.cells(w)), w, last
        )

    def about_spec(self, w: Any) -> str:
        """Return the words of report and MLflow on an experiment."""
        experiment, view = self.study.experiment(w.size, w.experiment), self.study.view(w.size, w.experiment)
        return encode(build_record(experiment, view, self._cards).plain())

    @functools.cached_property
    def _cards(self) -> list[Card]:
        """The cards that are committed with the gallery, if there are any."""
        return read_cards(Path(GALLERY_CARDS))

    def figure_files(self, size: str, name: str) -> list[str]:
        """Return all figures of an experiment, as PNG."""
        figures = self.study.experiment(size, name).figures
        return [f"{self.folders.experiment(size, name)}/figures/{figure}.png" for figure in figures]

    def report_inputs(self, size: str, names: list[str]) -> list[str]:
        """Return the files that a report over experiments shows."""
        kinds = ("about.json", "table.parquet", "claims.csv")
        files = [f"{self.folders.experiment(size, name)}/{kind}" for name in names for kind in kinds]
        return files + [path for name in names for path in self.figure_files(size, name)]

    def gallery_verdicts(self) -> list[str]:
        """Return the file of the verdicts that are committed with the gallery, if it exists."""
        return [self.folders.shared(GALLERY_VERDICTS)] if Path(GALLERY_VERDICTS).exists() else []

    def receipts(self, size: str, names: list[str]) -> list[str]:
        """Return the receipts of experiments, files that say that they were logged to MLflow."""
        return [f"{self.folders.experiment(size, name)}/mlflow.json" for name in names]

    @staticmethod
    def source(w: Any) -> str:
        """Return the entry of a data set in the catalogue."""
        return repr(sources.info(w.data))

    @staticmethod
    def custom_files(w: Any) -> list[str]:
        """Return the files of custom data; none for a data set of the catalogue."""
        return list(getattr(sources.info(w.data), "paths", ()))

    def source_code(self, w: Any) -> list[str]:
        """Return the code that prepares a data set."""
        modules = sources.modules(sources.info(w.data))
        return [self.folders.shared(path) for path in dependencies.data_files(modules, self.folders)]
