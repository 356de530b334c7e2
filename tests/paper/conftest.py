"""A study with finished results, in whose names stands everything that means something to TeX."""

import json
import os
from types import SimpleNamespace

import pytest
import yaml

from fedatlas.experiments.run import run_cell
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.jobs import claims, table
from fedatlas.workflow.study import Study

HOSTILE = r"50% & #1_a ~ {x} $y ^2 \end <λ> é 中"
LABEL = r"50% & #1_a ~ $y ^2 \end <λ> é"
BIBTEX = """@article{mine,
  author = {A. Author},
  title = {Mine \\& Yours},
  journal = {Nowhere},
  year = {2020},
}
"""
BETTER = {"kind": "better", "algorithm": "scaffold", "than": ["fedavg"], "where": {"local_steps": 2}}
TINY = {
    "title": HOSTILE,
    "paper": "mine",
    "source": "Table_1 & more",
    "problem": {"kind": "quadratic", "dim": 3, "L": 10.0, "heterogeneity": 1.0},
    "setting": {"clients": 3, "rounds": 6, "batch": None},
    "grid": {"local_steps": [1, 2]},
    "tune": {"lr": [1.0e-3, 0.05]},
    "seeds": [0, 1],
    "select": {"metric": "loss", "statistic": "best", "goal": "min", "seeds": [1000]},
    "algorithms": {"fedavg": {"label": LABEL}, "fed-avg": {"algorithm": "fedavg"}, "scaffold": None},
    "figures": {
        "loss": {"kind": "convergence", "x": "rounds", "panel": "local_steps", "caption": f"Loss r^0.5. {HOSTILE}"},
        "final": {"kind": "table", "x": "local_steps", "caption": "The last 5%."},
    },
    "claims": {
        "first-claim.2": {
            "text": f"SCAFFOLD is better by 1e-3 >= eta. {HOSTILE}",
            "source": "Figure_1",
            "check": {**BETTER, "metric": "suboptimality"},
        },
        "later": {
            "text": "Not tested.",
            "source": "Figure 2",
            "sizes": ["paper"],
            "check": BETTER,
        },
    },
    "sizes": {"smoke": {}, "paper": {}},
}


def finish(name, size="smoke"):
    """Make the results of an experiment of the study in the working directory."""
    graph, w = Graph(Study.open()), SimpleNamespace(size=size, experiment=name)
    folder, runs = graph.folders.experiment(size, name), graph.run_files(w)
    for cell, path in zip(graph.cells(w), runs, strict=True):
        run_cell(cell.spec, path)
    table.make(json.loads(graph.table_spec(w)), folder, runs)
    with open(f"{folder}/about.json", "w") as file:
        file.write(graph.about_spec(w))
    claims.make(json.loads(graph.claims_spec(w)), folder, f"{folder}/claims.csv")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of the study."""
    folder = tmp_path_factory.mktemp("paper")
    (folder / "config/experiments").mkdir(parents=True)
    (folder / "config/config.yaml").write_text("size: smoke\n")
    (folder / "references.bib").write_text(BIBTEX)
    (folder / "config/experiments/tiny_1.yaml").write_text(yaml.safe_dump(TINY, sort_keys=False, allow_unicode=True))
    before = os.getcwd()
    os.chdir(folder)
    try:
        finish("tiny_1")
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def study(finished, monkeypatch):
    """The same as working directory."""
    monkeypatch.chdir(finished)
    return finished
