"""The graph of a study's workflow: the inputs, outputs and parameters of its rules."""

import functools
import hashlib
import itertools
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fedatlas.data import sources
from fedatlas.errors import UserError
from fedatlas.experiments.cells import Cell, CellSpec
from fedatlas.experiments.dependencies import canonical, trace_files
from fedatlas.experiments.labels import SIMULATED
from fedatlas.io.files import read_json
from fedatlas.publish.report.facts import FACTS_FILE, build_facts
from fedatlas.records.lookup import Records
from fedatlas.results.claims import checks_at_size
from fedatlas.results.figures import FIGURES
from fedatlas.results.figures.renderer import figure_paths
from fedatlas.workflow import LIVE, dependencies, inputs
from fedatlas.workflow.dependencies import Origins
from fedatlas.workflow.interim_analyses import seed_counts
from fedatlas.workflow.study import Study
from fedatlas.workflow.summary import cards_on


class Graph:
    """Inputs and parameters of the rules.

    Methods that take ``w`` serve Snakemake: w are a job's wildcards. All paths that are returned are relative to the
    working directory.
    """

    def __init__(
        self,
        study: Study,
        analysis_file: Callable[[str, str, int], str] | None = None,
        is_dry: Callable[[], bool] = lambda: False,
    ) -> None:
        """Create the graph of a study.

        Args:
            study: The study.
            analysis_file: Returns the path of an interim analysis's file that is there, of a size, an experiment and a
                number of seeds. Snakemake's checkpoints make it again first where it is out of date.
            is_dry: Returns whether nothing may be written.
        """
        self.study, self.folders = study, study.folders
        self._analysis_file = analysis_file or self.analysis_file
        self._is_dry = is_dry
        self.origins, self.records = Origins(study), Records(study)

    def cells(self, w: Any) -> list[Cell]:
        """Return the cells of an experiment."""
        return list(self.study.cells(w.size, w.experiment).values())

    def cell(self, w: Any) -> Cell:
        """Return the cell of a run file."""
        cells = self.study.cells(w.size, w.experiment)
        if (w.id, w.key) not in cells:
            raise UserError(f"{w.experiment} (size {w.size}) has no run file {w.id}/{w.key}.parquet")
        return cells[w.id, w.key]

    def code(self, rule: str, w: Any) -> str:
        """Return the code of a rule's job: modules with their fingerprints, or a record's checksum."""
        if rule == "train" and (restored := self.records.find(w)):
            return f"record {restored.checksum}"
        return dependencies.fingerprints(dependencies.of_rule(rule, w, self.study, self.origins))

    def digest(self, rule: str, w: Any) -> str:
        """Return the digest of the specification of a rule's job, without the places of its inputs."""
        if rule == "train":
            return digest(sort_keys(canonical(self.run_spec(w))))
        return digest(getattr(self, f"_{rule}")(w))

    def specification(self, rule: str, w: Any, input: Sequence[str] = ()) -> str:
        """Return what a rule's job reads from its standard input: its specification, with the paths of its inputs.

        Args:
            rule: The rule.
            w: Wildcards of the job.
            input: Inputs of the job where it finds them, which may be copies of files in a storage.
        """
        if rule == "train":
            restored = self.records.find(w)
            return json.dumps({"record": restored._asdict()} if restored else self._train(w, input))
        document = getattr(self, f"_{rule}")(w)
        return json.dumps(self.folders.resolve(document, input))

    def _train(self, w: Any, input: Sequence[str]) -> dict[str, Any]:
        """Return the cell of a train job, the files that it reads, and the words that are logged to a server."""
        paths = self.run_inputs(w)
        files = {key: getattr(input, key, paths[key]) for key in ("partition", "optimum", "earlier") if key in paths}
        live = {"about": self._about(w)} if self._is_live else {}
        return live | {"cell": sort_keys(self.run_spec(w).to_dict())} | files

    def run_spec(self, w: Any) -> CellSpec:
        """Return what the runs of a run file need. w: Wildcards of its job."""
        spec, seeds = self.cell(w).spec, getattr(w, "seeds", None)
        return spec if seeds is None else replace(spec, seeds=list(range(int(seeds))))

    @functools.cached_property
    def _is_live(self) -> bool:
        """Return whether train jobs log their runs to an MLflow server as they end."""
        return bool(self.study.environment()[LIVE])

    def run_files(self, w: Any, last: int | None = None) -> list[str]:
        """Return the run files of an experiment, in the order of its cells.

        The first interim analysis that is not there follows them. As an input like all others, it is a reason to make
        again what was made before the experiment had this analysis, and the checkpoint that makes it renews the inputs.

        Args:
            w: Wildcards of size and experiment.
            last: Number of seeds of the last interim analysis; by default that of the experiment.
        """
        experiment, cells = self.study.experiment(w.size, w.experiment), self.cells(w)
        counts, absent = [0] * len(cells), list[str]()
        if analyses := experiment.analyses:
            algorithms = self.study.view(w.size, w.experiment).algorithms
            deterministic = [id for id, algorithm in algorithms.items() if algorithm.deterministic]

            def undecided(count: int) -> list[str]:
                if not Path(self.analysis_file(w.size, w.experiment, count)).exists():
                    absent.append(self.analysis_file(w.size, w.experiment, count))
                    return []
                return list(read_json(self._analysis_file(w.size, w.experiment, count))["undecided"])

            counts = seed_counts(experiment, cells, deterministic, undecided, last or analyses[-1])
        return [self._run_file(w, cell, count) for cell, count in zip(cells, counts, strict=True)] + absent

    def _run_file(self, w: Any, cell: Cell, count: int) -> str:
        """Return the run file of a cell with the seeds of an interim analysis."""
        folder = f"runs-{count}" if count in self.study.view(w.size, w.experiment).analyses[1:] else "runs"
        return f"{self.folders.experiment(w.size, w.experiment)}/{folder}/{cell.id}/{cell.key}.parquet"

    def analysis_file(self, size: str, name: str, seeds: int) -> str:
        """Return the file of an interim analysis, which holds the claims that it leaves undecided."""
        return f"{self.folders.experiment(size, name)}/interim/{seeds}.json"

    def _interim_analysis(self, w: Any) -> dict[str, Any]:
        """Return the claims of an experiment, its table's layout, and the number of seeds of an interim analysis."""
        return {"claims": self._claims(w), "layout": self._table(w), "seeds": int(w.seeds)}

    def interim_analysis_inputs(self, w: Any) -> dict[str, Any]:
        """Return the inputs of an interim analysis: the run files up to it, and the files of the checks' inputs."""
        return self.check_inputs(w, int(w.seeds)) | {"runs": self.run_files(w, int(w.seeds))}

    def run_inputs(self, w: Any) -> dict[str, Any]:
        """Return the inputs of a run file: data, partition, optimum, traces, and that of the interim analysis before.

        What comes from a record has no inputs.
        """
        spec, earlier = self.cell(w).spec, None
        if (seeds := getattr(w, "seeds", None)) is not None:
            analyses = self.study.experiment(w.size, w.experiment).analyses
            if int(seeds) not in analyses[1:]:
                where = f"{w.experiment} (size {w.size})"
                raise UserError(f"{where} has no interim analysis at {seeds} seeds after the first")
            earlier = self._run_file(w, self.cell(w), analyses[analyses[1:].index(int(seeds))])
        if self.records.find(w):
            return {}
        files: dict[str, Any] = {
            "data": self.data_files(spec.problem),
            "traces": [*map(self.folders.local, trace_files(spec))],
        }
        files |= self.origins.files(spec) | {"earlier": earlier}
        return {name: paths for name, paths in files.items() if paths}

    def data_files(self, problem: Mapping[str, Any]) -> list[str]:
        """Return the prepared data of a problem, as paths that rules make."""
        return [self.folders.prepared(problem[key]) for key in ("data", "test") if problem.get(key)]

    def _partition(self, w: Any) -> dict[str, Any]:
        return sort_keys(self.origins.find("partitions", w.key))

    def partition_inputs(self, w: Any) -> dict[str, Any]:
        """Return the inputs of a partition: the data whose labels are split."""
        return {"data": self.data_files({"data": self.origins.find("partitions", w.key)["data"]})}

    def _optimum(self, w: Any) -> dict[str, Any]:
        return sort_keys(self.origins.find("optima", w.key))

    def optimum_inputs(self, w: Any) -> dict[str, Any]:
        """Return the inputs of an optimum: data, and the partition if F depends on it."""
        origin = self.origins.find("optima", w.key)
        files: dict[str, Any] = {"data": self.data_files(origin["problem"])}
        return files | {key: self.folders.result(path) for key, path in origin.items() if key == "partition"}

    def _table(self, w: Any) -> dict[str, Any]:
        """Return the layout of an experiment's table."""
        return self.study.layout(w.size, w.experiment)

    def _figure(self, w: Any) -> dict[str, Any]:
        options = self.study.experiment(w.size, w.experiment).figure(w.figure)
        kind = FIGURES.build(options)
        view = self.study.view(w.size, w.experiment).to_dict() if kind.draws_results else None
        return {"figure": options, "view": view, "inputs": inputs.specify(kind, self.cells(w))}

    _figure_table = _figure

    def figure_inputs(self, w: Any) -> dict[str, Any]:
        """Return the inputs of a figure: table and curves if it draws results, and the files of its inputs."""
        kind = FIGURES.build(self.study.experiment(w.size, w.experiment).figure(w.figure))
        folder = self.folders.experiment(w.size, w.experiment)
        names = ("table", "curves") if kind.draws_results else ()
        return {name: f"{folder}/{name}.parquet" for name in names} | self._input_files(kind.inputs, w)

    def _input_files(self, names: Collection[str], w: Any, last: int | None = None) -> dict[str, Any]:
        """Return the files behind the inputs of figures and checks, by the names of inputs of a rule.

        Args:
            names: Names of modules in `fedatlas.workflow.inputs`.
            w: Wildcards of size and experiment.
            last: Number of seeds of the last interim analysis; by default that of the experiment.
        """
        needs, cells, files = set(names), self.cells(w), {}
        if needs & {"partitions", "availability", SIMULATED}:
            shared = [self.origins.files(cell.spec) for cell in cells]
            files["partitions"] = list(dict.fromkeys(paths["partition"] for paths in shared if "partition" in paths))
            files["data"] = list(dict.fromkeys(path for cell in cells for path in self.data_files(cell.spec.problem)))
        if SIMULATED in needs:
            files["runs"] = self.run_files(w, last)
        if needs & {"availability", SIMULATED}:
            traces = sorted({path for cell in cells for path in trace_files(cell.spec)})
            files["traces"] = [*map(self.folders.local, traces)]
        return files

    def _claims(self, w: Any) -> dict[str, Any]:
        """Return the claims of an experiment with the view of its checks."""
        experiment, view = self.study.experiment(w.size, w.experiment), self.study.view(w.size, w.experiment)
        claims = {name: vars(claim) for name, claim in experiment.claims.items()}
        return {"view": view.to_dict(), "claims": claims, "inputs": self._specify_checks(w)}

    def check_inputs(self, w: Any, last: int | None = None) -> dict[str, Any]:
        """Return the files of what an experiment's checks need besides its table, curves and trials.

        Args:
            w: Wildcards of size and experiment.
            last: Number of seeds of the last interim analysis; by default that of the experiment.
        """
        return self._input_files(self._specify_checks(w), w, last)

    def _specify_checks(self, w: Any) -> dict[str, Any]:
        """Return the inputs of the checks that are tested at a size."""
        experiment = self.study.experiment(w.size, w.experiment)
        return inputs.specify_checks(checks_at_size(experiment.claims, experiment.size), self.cells(w))

    def _about(self, w: Any) -> dict[str, Any]:
        """Return the words of report and MLflow on an experiment."""
        experiment, view = self.study.experiment(w.size, w.experiment), self.study.view(w.size, w.experiment)
        return build_facts(experiment, view, cards_on(self.study, experiment.name))

    def report_inputs(self, size: str, names: list[str]) -> list[str]:
        """Return the files that a report over experiments shows."""
        files = self._files(size, names, FACTS_FILE, "table.parquet", "claims.csv")
        for name in names:
            figures = self.study.experiment(size, name).figures.items()
            paths = (figure_paths(id, FIGURES.get(figure["kind"]).is_table) for id, figure in figures)
            files += self._files(size, [name], *itertools.chain(*paths))
        return files

    def _files(self, size: str, names: list[str], *kinds: str) -> list[str]:
        return [f"{self.folders.experiment(size, name)}/{kind}" for name in names for kind in kinds]

    @staticmethod
    def report_folders(files: Sequence[str]) -> list[str]:
        """Return the folders of the experiments that a report shows. files: Those of `report_inputs`."""
        return [str(Path(file).parent) for file in files if Path(file).name == FACTS_FILE]

    def results(self, size: str, names: list[str], *extra: str) -> list[str]:
        """Return the results of experiments that a run's summary names, and more files of each experiment."""
        return self._files(size, names, "report.html", "table.csv", *extra) + self.report_inputs(size, names)

    def track_inputs(self, size: str, names: list[str]) -> list[str]:
        """Return the files that MLflow is to show of experiments, and those behind its runs."""
        runs = [path for name in names for path in self.run_files(SimpleNamespace(size=size, experiment=name))]
        return self.results(size, names, "curves.parquet", "trials.parquet") + runs

    def source_code(self, w: Any) -> list[str]:
        """Return the files in the folder of data that hold the fingerprints of the code that prepares a data set.

        A run that is dry writes none, and leaves out those that are not there.
        """
        self._update_data_files()
        files = dependencies.data_files(sources.modules(sources.info(w.data)), self.folders.data).values()
        return [self.folders.local(path) for path in files if Path(path).exists()]

    @functools.cache  # noqa: B019
    def _update_data_files(self) -> None:
        if not self._is_dry():
            dependencies.update_data_files(self.folders.data)


def sort_keys(value: Any) -> Any:
    """Return a specification whose keys are sorted. In others their order matters, as of the algorithms in a figure."""
    return json.loads(json.dumps(value, sort_keys=True))


def digest(value: Any) -> str:
    """Return a short hash of a specification."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]
