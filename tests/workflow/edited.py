"""A small copy of the project with two experiments, in which everything is made: what edits are tried on."""

import contextlib
import re
import shutil

import yaml

from fedatlas.io.files import exclusive
from tests.workflow.project import ROOT, Project, copied

OWN = ROOT / "tests/extensions/study"

CONFIG = "tour: [convex, quadratic]\nsize: smoke\n"
CONVEX = {
    "title": "Convex",
    "paper": "yuan2020",
    "source": "Nowhere",
    "problem": {
        "kind": "logistic",
        "data": "breast_cancer",
        "l2": 0.1,
        "partition": {"kind": "dirichlet", "alpha": 1.0},
    },
    "optimum": True,
    "setting": {"clients": 3, "rounds": 3, "batch": 4},
    "grid": {"participation": [{"kind": "sine", "p": 0.9}, {"kind": "trace", "file": "trace.csv"}]},
    "tune": {"lr": [0.01, 0.05]},
    "seeds": [0],
    "select": {"metric": "suboptimality", "statistic": "best", "goal": "min", "seeds": [1000]},
    "algorithms": {"fedavg": None, "mifa": {"label": "Memory"}},
    "figures": {
        "curves": {"kind": "convergence", "x": "rounds", "panel": "participation", "caption": "Curves."},
        "timed": {"kind": "convergence", "x": "simulated_seconds", "panel": "participation", "caption": "Seconds."},
        "split": {"kind": "partition", "caption": "Samples."},
        "there": {"kind": "availability", "caption": "Who takes part."},
    },
    "claims": {
        "reached": {
            "text": "It is small.",
            "source": "Nowhere",
            "check": {"kind": "reaches", "algorithms": ["fedavg"], "at_most": 1.0},
        }
    },
    "sizes": {"smoke": {}},
}
QUADRATIC = {
    "title": "Quadratic",
    "paper": "jiang2024",
    "source": "Nowhere",
    "problem": {"kind": "quadratic", "dim": 3, "heterogeneity": 1.0},
    "setting": {"clients": 3, "rounds": 3, "batch": None, "schedule": {"kind": "exponential", "decay": 0.9}},
    "within": {"local_steps": [1, 2]},
    "select": {"metric": "distance", "statistic": "final", "goal": "min", "seeds": [1000]},
    "algorithms": {"scaffold": {"set": {"lr": 0.01}}},
    "figures": {
        "bars": {"kind": "scaling", "x": "local_steps", "caption": "Distance."},
        "numbers": {"kind": "table", "x": "local_steps", "caption": "Distances."},
    },
    "sizes": {"smoke": {}},
}
TRACE = "round,client,available\n0,0,1\n0,2,1\n1,1,1\n"

POINTS = "0;1.5;2\n1;3;4\n1;5;6\n0;1;1\n0;2;1\n1;4;4\n0;1;0\n1;5;5\n"


def with_atlas(folder):
    """Two experiments of kinds of the atlas."""
    (folder / "config/config.yaml").write_text(CONFIG)
    (folder / "trace.csv").write_text(TRACE)
    for name, content in (("convex", CONVEX), ("quadratic", QUADRATIC)):
        (folder / f"config/experiments/{name}.yaml").write_text(yaml.safe_dump(content, sort_keys=False))


def with_extensions(folder):
    """The study of tests/extensions, whose experiments use kinds of its own."""
    shutil.copytree(OWN, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "data/raw/mine").mkdir(parents=True)
    (folder / "data/raw/mine/points.txt").write_text(POINTS)


class Copy:
    """A small copy of the project in which everything is made. An edit is taken back after its test."""

    def __init__(self, folder):
        self.project = Project(folder)

    @classmethod
    def built(cls, folder, shared):
        """Build the copy, or copy what another process has built.

        Args:
            folder: The folder of the copy.
            shared: A folder that all processes of the tests share.
        """
        source = shared / "project_edited"
        with exclusive(source):
            if not (source / "built").exists():
                project = copied(source / "project")
                (project.folder / "config/experiments/tiny.yaml").unlink()
                with_atlas(project.folder)
                project.snakemake()
                project.copy_code()  # which the results do not name, so they are those of the copy too
                (source / "built").touch()
        shutil.copytree(source / "project", folder)  # with times of modification
        return cls(folder)

    @contextlib.contextmanager
    def edited(self, edits):
        """The copy after edits, (path, function of the text), which are taken back."""
        before = {path: (self.project.folder / path).read_text() for path, _ in edits}
        for path, edit in edits:
            text = (self.project.folder / path).read_text()
            assert edit(text) != text, f"the edit of {path} changes nothing"
            (self.project.folder / path).write_text(edit(text))
        try:
            yield
        finally:
            for path, text in before.items():
                (self.project.folder / path).write_text(text)

    def planned(self):
        """What a run of the workflow would make."""
        plan = self.project.snakemake("--dry-run").stdout
        outputs = [path for line in re.findall("^ +output: (.*)$", plan, re.MULTILINE) for path in line.split(", ")]
        return {_label(path.removesuffix(" (update)").removeprefix("results/")) for path in outputs} - {None}

    def run_workflow(self):
        """What a run of the workflow makes."""
        return {_label(name) for name in self.project.made_by()} - {None}


def _label(path):
    """``convex run fedavg all`` for a run file, and so on; None for files that go with another."""
    if path in ("report.html", "mlflow.json"):
        return path.partition(".")[0]
    if match := re.fullmatch(r"smoke/(\w+)/runs/([^/]+)/(.*)\.parquet", path):
        return f"{match[1]} run {match[2]} {match[3]}"
    if match := re.fullmatch(r"smoke/(\w+)/(?:figures/(\w+)\.png|tables/(\w+)\.html)", path):
        return f"{match[1]} figure {match[2] or match[3]}"
    if match := re.fullmatch(r"smoke/(\w+)/(about\.json|table\.parquet|claims\.csv)", path):
        return f"{match[1]} {match[2].partition('.')[0]}"
    if match := re.fullmatch(r"(partitions|optima)/.*\.npz", path):
        return {"partitions": "partition", "optima": "optimum"}[match[1]]
    return "prepared" if re.search(r"prepared/(breast_cancer|points)/meta\.json$", path) else None
