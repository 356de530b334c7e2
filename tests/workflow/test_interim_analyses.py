"""Seeds until decided: undecided comparisons alone get more, and what is run depends on scores alone."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml

from fedatlas.errors import UserError
from fedatlas.experiments.result_files import read
from fedatlas.experiments.run import run_cell
from fedatlas.experiments.tables import build
from fedatlas.experiments.view import ExperimentView
from fedatlas.results.claims.results import Results
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.jobs import claims, interim_analysis
from fedatlas.workflow.study import Study
from tests.workflow.project import TINY

BEGINNING, SECOND, LAST = "runs/{}/all.parquet", "runs-16/{}/all.parquet", "runs-32/{}/all.parquet"


def reaches(id, most):
    return {
        "text": f"{id} is small.",
        "source": "Nowhere",
        "check": {"kind": "reaches", "algorithms": [id], "at_most": most},
    }


def noisy(**change):
    """Noisy runs with interim analyses at 8, 16 and 32 seeds: a claim is decided at each of the first two."""
    return {
        **TINY,
        "problem": {"kind": "quadratic", "dim": 3, "L": 10.0, "heterogeneity": 1.0, "noise": 5.0},
        "setting": {"clients": 3, "rounds": 5, "batch": 1, "local_steps": 2},
        "tune": {},
        "seeds": {"at_least": 8, "at_most": 32},
        "select": {"metric": "loss", "statistic": "final", "goal": "min"},
        "algorithms": {
            "clear": {"algorithm": "fedavg", "set": {"lr": 0.05}},
            "close": {"algorithm": "fedavg", "set": {"lr": 0.02}},
            "near": {"algorithm": "scaffold", "set": {"lr": 0.02}},
        },
        "claims": {
            "clear": reaches("clear", 1000.0),
            "shared": reaches("close", 1000.0),
            "near": reaches("near", -13.0),
            "close": reaches("close", -13.5),
        },
        "sizes": {"smoke": {}},
        **change,
    }


class Workflow:
    """The rules of run files and interim analyses, run in this process: a file is made when it is asked for."""

    def __init__(self, folder, **change):
        path = Path(folder, "config/experiments/tiny.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(noisy(**change), sort_keys=False))
        settings = {"size": "smoke", "tour": [], "experiments": "all", "data": "data", "data_mirrors": []}
        study = Study(settings | {"results": str(folder / "results"), "mlflow_uri": ""}, root=folder)
        self.graph, self.folder = Graph(study, analysis_file=self.make_analysis), folder / "results/smoke/tiny"

    def wildcards(self, **values):
        return SimpleNamespace(size="smoke", experiment="tiny", **values)

    def make_analysis(self, size, name, seeds):
        path, w = self.graph.analysis_file(size, name, seeds), self.wildcards(seeds=seeds)
        if not Path(path).exists():
            files = [
                self.run_file(path)
                for path in self._renewed(lambda w: self.graph.interim_analysis_inputs(w)["runs"], w)
            ]
            interim_analysis.make(
                json.loads(self.graph.specification("interim_analysis", w)), str(self.folder), path, files
            )
        return path

    def run_file(self, path):
        """Return a run file that is there."""
        path = Path(path)
        if not path.exists():
            *_, folder, id, file = path.parts
            w, earlier = self.wildcards(id=id, key=file.removesuffix(".parquet")), None
            if folder != "runs":
                w.seeds = folder.removeprefix("runs-")
                earlier = self.run_file(self.graph.run_inputs(w)["earlier"])
            run_cell(self.graph.run_spec(w), path, earlier=earlier)
        return path

    def files(self):
        """Return the places of the last run files."""
        paths = self._renewed(self.graph.run_files, self.wildcards())
        return [str(self.run_file(path).relative_to(self.folder)) for path in paths]

    def _renewed(self, run_files, *arguments):
        """Return the inputs of a rule after all interim analyses among them are there, as checkpoints renew them."""
        while (last := Path((paths := run_files(*arguments))[-1])).parent.name == "interim":
            self.make_analysis("smoke", "tiny", int(last.stem))
        return paths

    def verdicts(self):
        files, w = [self.folder / name for name in self.files()], self.wildcards()
        spec = json.loads(self.graph.specification("claims", w))
        view, grid = ExperimentView.from_dict(spec["view"]), self.graph.study.layout(w.size, w.experiment)["grid"]
        table, curves, trials, _ = build(grid, view.select, files)
        results = Results(view, table, curves, trials)
        return claims.judge(spec, results, str(self.folder)).set_index("claim")

    def rows(self, name):
        """Return the rows of a run file without the time of each run."""
        return read(self.folder / name)[0].drop(columns="seconds")


@pytest.fixture(scope="module")
def decided(tmp_path_factory):
    """A workflow whose run files are there."""
    workflow = Workflow(tmp_path_factory.mktemp("decided"))
    workflow.files()
    return workflow


def test_undecided_comparisons_alone_get_more_seeds(decided):
    assert decided.files() == [BEGINNING.format("clear"), LAST.format("close"), SECOND.format("near")]
    verdicts = decided.verdicts()
    assert verdicts["verdict"].to_dict() == {
        "clear": "held",
        "shared": "held",
        "near": "held",
        "close": "undecided",
    }
    assert verdicts["seeds"].to_dict() == {
        "clear": 8,
        "shared": 8,
        "near": 16,
        "close": 32,
    }  # those of the interim analysis
    assert verdicts.loc["close", "note"] == "Undecided after 32 seeds, the most that are allowed."
    assert verdicts.loc["near", "note"].startswith(
        "Decided after 16 seeds, by intervals that hold at all 3 interim analyses"
    )
    first, last = (read(decided.folder / name.format("close"))[0] for name in (BEGINNING, LAST))
    rows = last[last["seed"].isin(first["seed"])]
    pd.testing.assert_frame_equal(first, rows.reset_index(drop=True))  # times included: no run was computed again


def test_an_interrupted_study_finds_its_way_back(decided, tmp_path):
    shutil.copytree(decided.folder, tmp_path / "results/smoke/tiny")
    again = Workflow(tmp_path)
    for name in ("interim/16.json", SECOND.format("close"), LAST.format("close")):
        (again.folder / name).unlink()
    assert again.files() == decided.files()
    for name in ("interim/8.json", "interim/16.json"):
        assert (again.folder / name).read_bytes() == (decided.folder / name).read_bytes()
    pd.testing.assert_frame_equal(again.rows(LAST.format("close")), decided.rows(LAST.format("close")))


def test_seeds_have_the_bits_that_they_have_in_a_list(decided, tmp_path):
    fixed = Workflow(tmp_path, seeds=list(range(32)))
    assert fixed.files() == [BEGINNING.format(id) for id in ("clear", "close", "near")]
    pd.testing.assert_frame_equal(fixed.rows(BEGINNING.format("close")), decided.rows(LAST.format("close")))


def test_runs_that_need_no_more_seeds_get_none(tmp_path):
    """Of an entry with seeds of its own, of deterministic runs, and where another part of an axis is compared."""
    full = {"algorithm": "fedavg", "set": {"lr": 0.05}, "setting": {"batch": None}}
    entries = noisy()["algorithms"] | {"full": full, "listed": {**noisy()["algorithms"]["close"], "seeds": [0, 5]}}
    check = {"kind": "better", "algorithm": "close", "than": ["full", "listed"], "where": {"local_steps": "max"}}
    claim = {"text": "t", "source": "s", "check": {**check, "absolute": True}}
    start = {"problem": noisy()["problem"] | {"start_scale": 0.0}, "grid": {"local_steps": [1, 2]}, "figures": {}}
    workflow = Workflow(tmp_path, algorithms=entries, claims={"it": claim}, **start)
    Path(workflow.folder, "interim").mkdir(parents=True)
    for seeds, undecided in ((8, ["it"]), (16, [])):
        workflow.folder.joinpath(f"interim/{seeds}.json").write_text(json.dumps({"undecided": undecided}))
    grown = [path for path in workflow.graph.run_files(workflow.wildcards()) if "/runs/" not in path]
    assert [str(Path(path).relative_to(workflow.folder)) for path in grown] == ["runs-16/close/local_steps=2.parquet"]


def test_claims_whose_inputs_wait_for_interim_analyses_are_planned(project):
    """Claims on simulated seconds read the costs of all run files; the first analysis decides which these are."""
    fewer = {"kind": "better", "algorithm": "near", "than": ["close"], "target": 1.0, "metric": "loss"}
    check = {**fewer, "cost": "simulated_seconds", "model": "cross-silo", "at_least": 1.0}
    project.write_experiment(**noisy(claims={"sooner": {"text": "t", "source": "s", "check": check}}))
    assert "checkpoint interim_analysis:" in project.snakemake("--dry-run", "results/smoke/tiny/claims.csv").stdout


def test_an_interim_analysis_that_the_experiment_does_not_have(decided):
    w = decided.wildcards(id="near", key="all", seeds="12")
    with pytest.raises(UserError, match=r"tiny \(size smoke\) has no interim analysis at 12 seeds after the first"):
        decided.graph.run_inputs(w)
