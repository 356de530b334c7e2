"""What the workflow asks of the configuration: which files exist, from what they are made, with which parameters."""

import functools
import json
import os
from pathlib import Path

from fedatlas import algorithms, problems
from fedatlas.data import sources
from fedatlas.data.readers import READERS
from fedatlas.errors import UserError
from fedatlas.experiments import config, expand, fingerprint
from fedatlas.experiments import result_files as files
from fedatlas.experiments.tables import view
from fedatlas.partitions import PARTITIONS
from fedatlas.registry import did_you_mean
from fedatlas.workflow import LIVE, needs
from fedatlas.workflow.validation import validate

EXPERIMENT = "results/{size}/{experiment}"

# Code behind the workflow's steps, by what a rule names as its input. Which data sets there are is no code of prepare.
CODE = {
    "prepare": (*READERS.modules(), "fedatlas.data.preparing", "fedatlas.data.checks"),
    "partition": (*PARTITIONS.modules(), "fedatlas.partitions"),
    "table": ("fedatlas.experiments.tables",),
    "figure": ("fedatlas.figures",),
    "claims": ("fedatlas.checks",),
    "track": ("fedatlas.tracking",),
    "report": ("fedatlas.report.page",),
    "instability": ("fedatlas.theory.instability",),
}


class Atlas:
    """The experiments of a project.

    config: the workflow's configuration. root: the project's folder, with config/ and workflow/. All paths that are
    returned are relative to the working directory.
    """

    def __init__(self, config, root):
        self.config, self.root = config, Path(root)
        self.paths = {path.stem: path for path in sorted((self.root / "config/experiments").glob("*.yaml"))}
        for name in self.config["tour"]:
            self._known(name)
        if self.config["experiments"] != "all":
            for name in self.config["experiments"]:
                self._known(name)

    def _known(self, name):
        if name not in self.paths:
            raise UserError(f"config/config.yaml: unknown experiment {name!r}{did_you_mean(name, self.paths)}")

    def check(self, words):
        """Load and expand the experiments that a command line asks for, so that their mistakes come up first.

        words: arguments of snakemake, among them targets; without a target of ours it is the tour that is asked for.
        """
        config.read_yaml(self.root / "config/config.yaml")  # Snakemake takes the last of two equal keys
        wanted = []
        for word in words:
            size, name = (*Path(word).parts, "", "")[1:3]
            if word in self.paths:
                wanted.append((self.config["size"], word))
            elif word == "all":
                wanted += [(self.config["size"], name) for name in self.selected()]
            elif size in config.SIZES and name in self.paths:
                wanted.append((size, name))
        for size, name in wanted or [("smoke", name) for name in self.config["tour"]]:
            self.cells(size, name)

    def environment(self):
        """Where jobs find data and log to. No parameters of rules: another mirror is no reason to prepare anew."""
        mirrors = [*self.config["data_mirrors"], os.environ.get("FEDATLAS_DATA_MIRRORS", "")]
        found = {"FEDATLAS_DATA": self.config["data"], "FEDATLAS_DATA_MIRRORS": " ".join(mirrors).strip()}
        uri = self.config["mlflow_uri"]  # an SQLite file is for one writer: it gets its runs when an experiment is done
        return found | {LIVE: uri if uri.startswith("http") else ""}

    def selected(self):
        """Names of the experiments of the target all."""
        return list(self.paths) if self.config["experiments"] == "all" else self.config["experiments"]

    @functools.cache  # noqa: B019  an Atlas lives as long as its process
    def experiment(self, size, name):
        """A loaded and checked experiment."""
        self._known(name)
        loaded = config.load(self.paths[name], self.root / "workflow/schemas/experiment.schema.yaml", size)
        validate(loaded)
        return loaded

    @functools.cache  # noqa: B019
    def cells(self, size, name):
        """Cells of an experiment by (algorithm id, key)."""
        return {(cell.id, cell.key): cell for cell in expand.cells(self.experiment(size, name))}

    def spec(self, w):
        """Specification of the cell that wildcards name, as JSON."""
        return json.dumps(self._cell(w).spec, sort_keys=True)

    def _cell(self, w):
        cells = self.cells(w.size, w.experiment)
        if (w.id, w.key) not in cells:
            raise UserError(f"{w.experiment} (size {w.size}) has no run file {w.id}/{w.key}.parquet")
        return cells[w.id, w.key]

    def run_files(self, size, name):
        """Paths of all run files of an experiment."""
        return [f"{self.directory(size, name)}/runs/{id}/{key}.parquet" for id, key in self.cells(size, name)]

    @staticmethod
    def directory(size, name):
        """Folder of an experiment's results."""
        return EXPERIMENT.format(size=size, experiment=name)

    def figure_files(self, size, name):
        """Paths of all figures of an experiment, as PNG."""
        return [
            f"{self.directory(size, name)}/figures/{figure}.png" for figure in self.experiment(size, name)["figures"]
        ]

    def target(self, size, names):
        """What makes experiments complete, apart from a report over them: figures, claims, the MLflow receipt."""
        found = []
        for name in names:
            directory = self.directory(size, name)
            found += [*self.figure_files(size, name), f"{directory}/claims.csv", f"{directory}/mlflow.json"]
        return found

    # -- inputs of rules -----------------------------------------------------------------------------------------

    def run_inputs(self, w):
        """Inputs of a run file: data, partition, optimum, code."""
        spec = self._cell(w).spec
        inputs = {"code": self.code(self._code_of_run(spec)), "data": self.data_of(spec["problem"])}
        if expand.partitioned(spec["problem"]):
            inputs["partition"] = self.partition_file(spec)
        if spec["optimum"]:
            inputs["optimum"] = self.optimum_file(spec)
        if traces := expand.trace_files(spec):
            inputs["traces"] = traces
        return inputs

    def data_of(self, problem):
        """Prepared data of a problem, as paths that rules make."""
        names = [problem[key] for key in ("data", "test") if problem.get(key)]
        return [f"{self.config['data']}/prepared/{name}/meta.json" for name in names]

    def partition_file(self, spec):
        """Partition that a cell's data are split by."""
        clients = spec["setting"]["clients"]
        path = f"results/partitions/{expand.partition_key(spec['problem'], clients)}.npz"
        return self._remember(path, {"problem": spec["problem"], "clients": clients})

    def optimum_file(self, spec):
        """Optimum of a cell's problem."""
        problem = {k: v for k, v in spec["problem"].items() if k != "test"}
        clients = spec["setting"].get("clients", 1)
        path = f"results/optima/{expand.problem_key({**problem, 'clients': clients})}.npz"
        return self._remember(path, {"problem": problem, "clients": clients})

    def partitions_of(self, size, name):
        """Partition files of an experiment's cells, in order, each once."""
        specs = [cell.spec for cell in self.cells(size, name).values()]
        return list(dict.fromkeys(self.partition_file(s) for s in specs if expand.partitioned(s["problem"])))

    @functools.cached_property
    def _made(self):
        return {}

    def _remember(self, path, what):
        """What a file named by a hash is made from, for the rule that makes it."""
        self._made[path] = what
        return path

    def made_from(self, path):
        """JSON of the problem and number of clients behind a partition or optimum file."""
        return json.dumps(self._origin(path), sort_keys=True)

    def made_data(self, path):
        """Prepared data behind a partition or optimum file."""
        return self.data_of(self._origin(path)["problem"])

    def made_code(self, path):
        """Fingerprint file of the problem behind an optimum file."""
        return self.code(f"optimum-{self._origin(path)['problem']['kind']}")

    def _origin(self, path):
        if path not in self._made:
            for size, name in ((s, n) for s in config.SIZES for n in self.paths):
                self._scan(size, name)
        if path not in self._made:
            raise UserError(f"no experiment needs {path}")
        return self._made[path]

    def _scan(self, size, name):
        try:
            specs = [cell.spec for cell in self.cells(size, name).values()]
        except UserError:
            return  # another experiment's mistake is reported when that one is asked for
        for spec in specs:
            if expand.partitioned(spec["problem"]):
                self.partition_file(spec)
            if spec["optimum"]:
                self.optimum_file(spec)

    # -- schedulers ----------------------------------------------------------------------------------------------

    def batch(self, w):
        """The group of a cell's job, for clusters."""
        return needs.batch(self._cell(w).spec)

    def need(self, resource):
        """What a train job asks of a machine, as Snakemake's callable; a job that is tried again gets more memory."""

        def ask(w, attempt):
            return needs.needs(self._cell(w).spec)[resource] * (attempt if resource == "mem_mb" else 1)

        return ask

    def optimum_memory(self, w, attempt):
        """MB for the solver of an optimum, which holds the data as a network does not."""
        return needs.needs(self._origin(f"results/optima/{w.key}.npz"))["mem_mb"] * attempt

    # -- code ----------------------------------------------------------------------------------------------------

    @staticmethod
    def code(step):
        """Fingerprint file of a step of the workflow, an input of its rule."""
        return f"results/code/{step}.txt"

    @staticmethod
    def _code_of_run(spec):
        return "-".join(["run", *(name.rpartition(".")[2] for name in expand.modules(spec)[:-1])])

    def write_code(self):
        """Bring all fingerprint files up to date; one whose code did not change is not touched.

        Called before Snakemake looks at files: what it has not seen when it starts, it takes for missing.
        """
        wanted = {step: fingerprint.fingerprint(*modules) for step, modules in CODE.items()}
        templates = sorted(
            p for p in (Path(__file__).parents[1] / "report").iterdir() if p.suffix in (".html", ".css", ".bib")
        )
        wanted["report"] = fingerprint.fingerprint(*CODE["report"], files=templates)
        for problem in problems.variants():
            wanted[f"optimum-{problem['kind']}"] = fingerprint.fingerprint(*problems.modules(problem))
            for name in algorithms.names():
                spec = {"algorithm": name, "problem": problem}
                wanted[self._code_of_run(spec)] = fingerprint.fingerprint(*expand.modules(spec))
        for label, text in wanted.items():
            path = Path(self.code(label))
            if not path.exists() or path.read_text() != text + "\n":
                with files.atomic(path) as temporary:
                    temporary.write_text(text + "\n")

    # -- parameters of rules: only what a step uses, so that nothing else reruns it ---------------------------------

    @staticmethod
    def source(name):
        """The entry of a data set."""
        return repr(sources.info(name))

    def view(self, w):
        """What the table needs to know of an experiment."""
        return json.dumps(view(self.experiment(w.size, w.experiment)), sort_keys=True)

    def part(self, w, key, name=None):
        """A part of an experiment as JSON."""
        value = self.experiment(w.size, w.experiment)[key]
        return json.dumps(value if name is None else value[name], sort_keys=True)
