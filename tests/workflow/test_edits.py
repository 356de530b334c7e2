"""Every result depends on exactly what made it: a table of edits, each with all that must be made again and no more.

The real workflow runs on a small copy of the project after each edit. What it made again is told by the times of files.
"""

import re

import pytest
import yaml

from tests.workflow.conftest import copied

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
    "grid": {"participation": [{"kind": "full"}, {"kind": "sine", "p": 0.9}]},
    "tune": {"lr": [0.01, 0.05]},
    "seeds": [0],
    "select": {"metric": "suboptimality", "statistic": "best", "goal": "min"},
    "algorithms": {"fedavg": None, "mifa": {"label": "Memory"}},
    "figures": {
        "curves": {"kind": "convergence", "x": "rounds", "panel": "participation", "caption": "Curves."},
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
    "select": {"metric": "distance", "statistic": "final", "goal": "min"},
    "algorithms": {"scaffold": {"set": {"lr": 0.01}}},
    "figures": {"bars": {"kind": "scaling", "x": "local_steps", "caption": "Distance."}},
    "sizes": {"smoke": {}},
}
FILES = {"convex": CONVEX, "quadratic": QUADRATIC}
FIGURES = {"convex": ["curves", "split", "there"], "quadratic": ["bars"]}
SHOWS_RESULTS = {"convex": ["curves"], "quadratic": ["bars"]}


def runs(experiment, *algorithms):
    """The run files of algorithms, and what is made from them."""
    return {f"{experiment} run {name}" for name in algorithms} | results(experiment)


def results(experiment):
    """The table, and what is made from it."""
    drawn = [f"{experiment} figure {name}" for name in SHOWS_RESULTS[experiment]]
    return {f"{experiment} table", *drawn, f"{experiment} claims", f"{experiment} mlflow", "report"}


def figures(experiment, *names):
    """Figures, and what shows them."""
    return {f"{experiment} figure {name}" for name in names} | {f"{experiment} mlflow", "report"}


def about(experiment):
    """What is said of an experiment, and what shows it."""
    return {f"{experiment} about", f"{experiment} mlflow", "report"}


CELLS = runs("convex", "fedavg", "mifa") | runs("quadratic", "scaffold")
LINE = "\nADDED = 1\n"
APPENDED = [  # a line in each kind of module: (file, what must be made again)
    ("algorithms/scaffold.py", runs("quadratic", "scaffold")),
    ("algorithms/mifa.py", runs("convex", "mifa")),
    ("algorithms/fedcm.py", set()),
    ("algorithms/base.py", CELLS),
    ("problems/quadratic.py", runs("quadratic", "scaffold")),
    ("problems/logistic.py", runs("convex", "fedavg", "mifa") | {"optimum"}),
    ("problems/network.py", set()),
    ("architectures/lenet.py", set()),
    ("participation/sine.py", runs("convex", "fedavg", "mifa") | figures("convex", "there")),
    ("participation/markov.py", set()),
    ("schedules/exponential.py", runs("quadratic", "scaffold")),
    ("schedules/inverse_sqrt.py", set()),
    ("partitions/dirichlet.py", runs("convex", "fedavg", "mifa") | {"partition"} | figures("convex", "split", "there")),
    ("partitions/classes.py", set()),
    ("simulation/engine.py", CELLS),
    ("simulation/memory.py", set()),
    ("simulation/checkpoint.py", set()),
    ("compiled/rounds.py", set()),
    ("errors.py", set()),
    ("kinds.py", set()),
    ("experiments/result_files.py", set()),
    ("experiments/tables.py", results("convex") | results("quadratic")),
    ("figures/scaling.py", figures("quadratic", "bars")),
    ("figures/heatmap.py", set()),
    ("figures/style.py", figures("convex", "curves") | figures("quadratic", "bars")),
    ("workflow/figure_inputs.py", figures("convex", "split", "there")),
    ("checks/reaches.py", {"convex claims", "convex mlflow", "report"}),
    ("checks/better.py", set()),
    ("theory/fedac.py", set()),
    ("report/page.py", {"report"}),
    ("tracking/entries.py", {"convex mlflow", "quadratic mlflow"}),
    ("metrics/test_loss.py", set()),
]
KEYS = [  # keys of an experiment file: (experiment, change, what must be made again)
    ("convex", {"title": "Other"}, about("convex")),
    ("convex", {"paper": "sun2023"}, about("convex")),
    ("convex", {"source": "Elsewhere"}, about("convex")),
    ("convex", {"description": "Words."}, about("convex")),
    ("convex", {"notes": ["A note."]}, about("convex")),
]


class Copy:
    """A small copy of the project in which everything is made."""

    def __init__(self, folder):
        self.project = copied(folder)
        (folder / "config/experiments/tiny.yaml").unlink()
        (folder / "config/config.yaml").write_text("tour: [convex, quadratic]\nsize: smoke\n")
        for name, content in FILES.items():
            self.write(name, content)
        self.project.snakemake()

    def write(self, name, content):
        path = self.project.folder / f"config/experiments/{name}.yaml"
        path.write_text(yaml.safe_dump(content, sort_keys=False))

    def made(self):
        """What a run of the workflow makes, in the words of the table above."""
        return {_label(name) for name in self.project.made_by()} - {None}


def _label(path):
    """``convex run fedavg`` for a run file, and so on; None for files that go with another."""
    if re.fullmatch(r"(report\.html|claims\.csv)", path):
        return "report"
    if match := re.fullmatch(r"smoke/(\w+)/runs/([^/]+)/.*\.parquet", path):
        return f"{match[1]} run {match[2]}"
    if match := re.fullmatch(r"smoke/(\w+)/figures/(\w+)\.png", path):
        return f"{match[1]} figure {match[2]}"
    if match := re.fullmatch(r"smoke/(\w+)/(about\.json|table\.parquet|claims\.csv|mlflow\.json)", path):
        return f"{match[1]} {match[2].partition('.')[0]}"
    if match := re.fullmatch(r"(partitions|optima)/.*\.npz", path):
        return {"partitions": "partition", "optima": "optimum"}[match[1]]
    return None


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return Copy(tmp_path_factory.mktemp("edits") / "project")
