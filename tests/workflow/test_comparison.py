"""`fedatlas compare` beside a record: what is trained, and what is said of whom."""

import re
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from fedatlas import UserError
from fedatlas.cli.main import main
from fedatlas.experiments.cells import Select
from fedatlas.experiments.view import AlgorithmView, ExperimentView
from fedatlas.federation.problems import interactive
from fedatlas.io.formats import read_csv
from fedatlas.publish.comparison.compare import add_runs
from fedatlas.records.results import record_tables
from fedatlas.workflow.study import Study
from tests.report.test_browser import WIDE, driver  # noqa: F401  a fixture
from tests.workflow.finished import add_record
from tests.workflow.project import ROOT, copied

SUITE = {
    "title": "A suite",
    "paper": "yuan2020",
    "source": "Nowhere",
    "problem": {
        "kind": "quadratic", "dim": 6, "mu": 0.05, "L": 5.0, "similarity": 2.5, "heterogeneity": 3.0,
        "instance": "seed", "zero_minimum": True,
    },
    "setting": {
        "clients": 4, "local_steps": 3, "rounds": 12, "eval_rounds": 1, "batch": None, "full_gradients": "minibatch",
    },
    "trials": 2,
    "select": {"metric": "loss", "statistic": "final", "goal": "min", "extend": 1, "seeds": [1000, 1001]},
    "seeds": [0, 1, 2],
    "cases": {
        "unlike": {"label": "Hessians unlike"},
        "shifted": {"label": "Optima far apart", "problem": {"heterogeneity": 10.0}},
        "noise": {"label": "Noise, 1 sample", "problem": {"noise": 1.0}, "setting": {"batch": 1}},
        "softmax": {
            "label": "Softmax",
            "problem": {
                "kind": "softmax", "data": "digits", "l2": 0.01, "partition": {"kind": "dirichlet", "alpha": 1.0},
            },
            "setting": {"batch": 10},
        },
    },
    "algorithms": {"fedavg": {}, "scaffold": {}, "dane": {}, "gd": {}},
    "sizes": {"smoke": {"algorithms": {"gd": None}}},
}  # fmt: skip
REFERENCE = """@inproceedings{wang2020slowmo,
  author = {Wang, Jianyu and Tantia, Vinayak and Ballas, Nicolas and Rabbat, Michael},
  title = {SlowMo: Improving Communication-Efficient Distributed SGD with Slow Momentum},
  booktitle = {ICLR},
  year = {2020}
}
"""
TOY = """
from fedatlas.data.catalogue import File, Form, Source

FILE = File("toy", ("http://127.0.0.1:9/toy",))
TOY = Source(
    "toy", title="Toy", group="toys", page="http://127.0.0.1/", licence="none", citation="lecun1998gradient",
    forms=(Form("libsvm", (FILE,), {"labels": (-1, 1)}),), classes=2, rows=8, shape=(3,), dtype="float64", sparse=True,
)
"""
FAR = {
    "extends": {"experiment": "suite", "cases": "none", "algorithms": "none", "sizes": "none"},
    "title": "Far data",
    "seeds": [0, 1],
    "cases": {
        "unlike": {"label": "Hessians unlike"},
        "toy": {
            "label": "Toy, iid", "problem": {"kind": "logistic", "data": "toy", "l2": 0.1, "partition": "iid"},
            "setting": {"clients": 2},
        },
    },
    "algorithms": {"fedavg": {}, "scaffold": {}},
    "sizes": {"smoke": {}},
}  # fmt: skip
PAGE = (ROOT / "docs/how-to/compare.md").read_text()
SLOWMO = next(block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "class SlowMo" in block)
RANGELESS = '''
from dataclasses import dataclass

from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class Rangeless(FedAvg):
    """FedAvg without a range for its step size."""

    name = "rangeless"
    label = "Rangeless"

    lr: float = option(doc="step size", above=0)
'''


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project whose suite has a record that is verified, without results."""
    project = copied(tmp_path_factory.mktemp("compare"))
    (project.folder / "extensions").mkdir()
    (project.folder / "references.bib").write_text(REFERENCE)
    (project.folder / "extensions/slowmo.py").write_text(SLOWMO)
    (project.folder / "extensions/rangeless.py").write_text(RANGELESS)
    template = ROOT / "src/fedatlas/workflow/study_template"
    shutil.copy(template / "extensions/my_algorithm.py", project.folder / "extensions")
    with open(project.folder / "references.bib", "a") as file:
        file.write((template / "references.bib").read_text())
    add_record(project.folder, "suite", SUITE)
    return project


@pytest.fixture(scope="module")
def far(project):
    """The project with one more experiment, in whose record a problem is whose data can no longer be had."""
    (project.folder / "extensions/toy.py").write_text(TOY)
    raw = project.folder / "data/raw/toys"
    raw.mkdir(parents=True)
    rows = [f"{1 if k % 2 else -1} 1:{k} 2:{-k} 3:1" for k in range(8)]
    (raw / "toy").write_text("\n".join(rows) + "\n")
    add_record(project.folder, "far", FAR)
    for folder in (raw, project.folder / "data/prepared/toy"):
        shutil.rmtree(folder)
    return project


def table(project, name):
    return read_csv(project.folder / f"results/compare/{name}.csv").set_index("problem")


def test_a_new_algorithm_has_table_page_and_sentence_and_trains_its_own_cells_alone(project):
    output = project.fedatlas("compare", "slowmo", "--on", "suite", "--size", "smoke", "--cores", "2")
    assert "from the record: 10 run files" in output
    assert re.search(r"to train: 4 run files, ~\d+ \w+ on 2 cores, as the others took\n", output)
    trained = project.folder / "results/smoke/compare_slowmo_on-suite/runs"
    assert {path.parent.name for path in trained.rglob("*.parquet")} == {"slowmo"}
    assert "SlowMo is " in output and "chosen" in output
    frame = table(project, "slowmo_on-suite")
    assert list(frame.index) == ["Hessians unlike", "Optima far apart", "Noise, 1 sample", "Softmax"]
    assert set(frame["algorithms"]) == {3, 4}  # DANE is not defined with minibatches
    page = (project.folder / "results/compare/slowmo_on-suite.html").read_text()
    assert "SlowMo is " in page and "http" not in page.split("<script")[0].replace("https://www.chartjs.org", "")


@pytest.mark.parametrize(
    "options",
    [["--dry-run"], pytest.param(["--cores", "2"], marks=pytest.mark.slow)],
    ids=["dry", "real"],
)
def test_a_problem_whose_data_cannot_be_had_is_left_out_by_name_and_the_rest_is_compared(far, options):
    output = far.fedatlas("compare", "slowmo", "--on", "far", "--size", "smoke", *options)
    assert "slowmo beside 2 others on 1 problem of far" in output and "to train: 1 run file" in output
    assert "Toy (iid) is left out: the data set 'toy' needs " in output and "http://127.0.0.1:9/toy: " in output
    assert not (far.folder / "data/prepared/toy").exists()
    if "--dry-run" not in options:
        assert list(table(far, "slowmo_on-far").index) == ["Hessians unlike"]
        assert "Toy (iid) is left out" in (far.folder / "results/compare/slowmo_on-far.html").read_text()
        again = far.fedatlas("compare", "slowmo", "--on", "far", "--size", "smoke", "--dry-run")
        assert "to train" not in again and "from an earlier comparison: 1 run file" in again


def test_what_the_record_gives_needs_no_data(far):
    output = far.fedatlas("compare", "FedAvg", "SCAFFOLD", "--on", "far", "--size", "smoke")
    assert "fedavg and scaffold beside 0 others on 2 problems" in output and "left out" not in output
    assert list(table(far, "fedavg_scaffold_on-far").index)[:2] == ["Hessians unlike", "Toy, iid"]


def test_without_data_for_any_problem_each_is_named(far):
    path = far.folder / "config/experiments/farther.yaml"
    path.write_text(yaml.safe_dump({**FAR, "extends": "far", "cases": {"unlike": None}}, sort_keys=False))
    try:
        output = far.fedatlas("compare", "slowmo", "--on", "farther", "--size", "smoke", "--dry-run", status=2)
    finally:
        path.unlink()
    first, second = output.strip().splitlines()
    assert first == "fedatlas: no problem of farther (size smoke) is left; another --size or --on may need no such data"
    assert second.startswith("Toy (iid) is left out: the data set 'toy' needs ")


def test_the_page_which_method_when_is_made_from_the_record(project):
    project.fedatlas("guide", "--on", "suite", "--out", "guide.html")
    page = (project.folder / "guide.html").read_text()
    assert "3 federated methods on 4 problems" in page and len(page) < 2_000_000
    assert "there is no record of tiny" in project.fedatlas("guide", "--on", "tiny", status=2)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["slowmoo", "--on", "suite"], "unknown algorithm 'slowmoo'; did you mean 'slowmo'"),
        (["slowmo", "--on", "sweet"], "there is no experiment 'sweet'"),
        (["slowmo", "--on", "suite", "--size", "paper"], "there is no size 'paper'"),
        (["slowmo", "--on", "tiny"], "--compute trains its 2 entries first"),
        (["slowmo", "--on", "suite", "--set", "lr"], "not of the form NAME=VALUE"),
        (["slowmo", "--on", "suite", "--set", "momentum=1"], "momentum"),
        (["none.csv", "--on", "suite"], "none.csv"),
        (
            ["rangeless", "--on", "suite"],
            "algorithm rangeless (extensions/rangeless.py): lr has no range in which it is "
            "tuned: add search=(LOW, HIGH) to the option, or give --search lr=[LOW,HIGH] or --set lr=VALUE",
        ),
        (["slowmo", "--on", "suite", "--search", "lr=[1,0.1]"], "--search lr is [1, 0.1]; its ends must be positive"),
        (["slowmo", "--on", "suite", "--search", "lrr=[1,2]"], "no option 'lrr'; did you mean 'lr'"),
        (["slowmo", "--on", "suite", "--set", "lr=-1"], "algorithm slowmo (extensions/slowmo.py): lr is -1"),
    ],
)
def test_bad_input_is_one_sentence(project, words, sentence, monkeypatch, capsys):
    monkeypatch.chdir(project.folder)
    assert main(["compare", *words]) == 2
    output = "".join(capsys.readouterr())
    assert sentence in output and "Traceback" not in output and len(output.strip().splitlines()) == 1
    assert "results/" not in output


def instance(seed):
    """The arrays of an instance of the suite's problem, and its setting."""
    p = interactive.create({**SUITE["problem"], "instance": seed}, SUITE["setting"]["clients"])
    return {"A": p.A, "b": p.b, "c": p.c, "start": p.start(seed), **SUITE["setting"]}


def federated_averaging(p, lr):
    """Losses of FedAvg with exact gradients, as a user of another framework writes it."""
    x = p["start"]
    for _ in range(p["rounds"] + 1):
        yield float(np.mean(0.5 * np.einsum("i,mij,j->m", x, p["A"], x) - p["b"] @ x + p["c"]))
        y = np.tile(x, (int(p["clients"]), 1))
        for _ in range(p["local_steps"]):
            y = y - lr * (np.einsum("mij,mj->mi", p["A"], y) - p["b"])
        x = y.mean(axis=0)


@pytest.mark.slow
def test_runs_of_another_framework_begin_where_those_of_the_atlas_do_and_are_placed_beside_them(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    tables = record_tables(Study.open(), "suite", "smoke")
    rows, curves = tables.table, tables.curves
    rows = rows[(rows["algorithm"] == "fedavg") & (rows["case"] == "unlike") & rows["chosen"]]
    parts = []
    for seed in range(3):
        p = instance(seed)
        largest = np.abs(np.linalg.eigvalsh(p["A"])).max()  # L_max, in whose terms step sizes are tuned
        lr = eval(rows["lr"].iloc[0], {"L_max": largest})
        losses = list(federated_averaging(p, lr))
        ours = curves[(curves["algorithm"] == "fedavg") & (curves["case"] == "unlike") & (curves["seed"] == seed)]
        np.testing.assert_allclose([losses[round] for round in ours["round"]], ours["loss"], rtol=1e-8)
        parts.append(pd.DataFrame({"problem": "suite/unlike", "seed": seed, "round": range(13), "loss": losses}))
    pd.concat(parts).to_csv(project.folder / "torch.csv", index=False)
    output = project.fedatlas("compare", "torch.csv", "--on", "suite", "--size", "smoke")
    assert "how the runs of torch.csv were tuned is not known here" in output and "to train" not in output
    sentence = " ".join(output.split())  # lines end where the terminal does
    assert "torch is " in sentence and "; has no runs on Optima far apart" in sentence


@pytest.mark.parametrize(
    "change, reason",
    [
        (lambda f: f.assign(loss=f["loss"] * 1.1), "begin there"),
        (lambda f: f[f["round"] < 12], "they must go from 0, the start, to 12"),
        (lambda f: f.assign(loss=f["loss"].where(f["round"] < 12, -1e9)), "it is the loss of another objective"),
        (lambda f: f.assign(seed=f["seed"] + 100), "it must be a scoring seed"),
        (lambda f: f.assign(problem="unlikely"), "unknown problem 'unlikely'"),
        (lambda f: f.drop(columns="loss"), "no column 'loss'"),
        (lambda f: f.assign(round="first"), "must be numbers"),
        (lambda f: f[f["seed"] == 0], "has one seed"),
        (lambda f: pd.concat([f, f]), "a round stands twice"),
    ],
)
def test_rows_that_do_not_fit_are_refused_with_the_reason(change, reason):
    view = ExperimentView(
        "suite", "smoke", ["case"], [], Select(metric="loss", statistic="final", goal="min"), {}, {}, [0, 1],
        {"fedavg": AlgorithmView("fedavg", "FedAvg")}, {"unlike": "Hessians unlike"},
    )  # fmt: skip
    rounds = np.arange(13)
    curves = pd.concat(
        pd.DataFrame(
            {"algorithm": "fedavg", "case": "unlike", "seed": seed, "round": rounds, "loss": 3.0 + 0.5**rounds,
             "suboptimality": 0.5**rounds, "status": "ok"}
        )
        for seed in (0, 1)
    )  # fmt: skip
    given = curves.rename(columns={"case": "problem"})[["problem", "seed", "round", "loss"]]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "own.csv")
        given.to_csv(path, index=False)
        own = add_runs(view, curves, path)[1]
        assert list(own[own["algorithm"] == "own"]["suboptimality"]) == pytest.approx(list(curves["suboptimality"]))
        change(given).to_csv(path, index=False)
        with pytest.raises(UserError, match=re.escape(reason)):
            add_runs(view, curves, path)
