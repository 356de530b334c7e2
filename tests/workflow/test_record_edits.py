"""The table of edits: which cells of a record are taken after an edit of data, code or a study."""

import dataclasses
import json
import shutil

import numpy as np
import pandas as pd
import pytest

from fedatlas import record
from fedatlas.cli.main import main
from fedatlas.data import store
from fedatlas.data.catalogue import SOURCES
from fedatlas.experiments import fingerprint, result_files
from fedatlas.experiments import run as run_module
from fedatlas.federation.partitions import PARTITIONS
from fedatlas.records.lookup import Records, all_verifications
from fedatlas.workflow.study import Study
from tests.helpers import forget_code
from tests.records.test_records import changed_file
from tests.workflow.finished import add_record, finish

OWN = """from dataclasses import dataclass

from extensions.scaling import FACTOR
from fedatlas import Algorithm, State, option


@dataclass(frozen=True, kw_only=True)
class Mine(Algorithm):
    name = "mine"
    lr: float = option(doc="step size", above=0)

    def client(self, s, i, steps):
        y = s.x
        for g in steps:
            y = y - FACTOR * self.lr * g(y)
        return State(y=y - s.x), i

    def server(self, s, mean, n):
        return State(x=s.x + mean.y)
"""


EXPERIMENT = {
    "title": "Edits",
    "paper": "yuan2020",
    "source": "Nowhere",
    "setting": {"clients": 3, "rounds": 4, "batch": 1, "local_steps": 2},
    "tune": {"lr": [0.01, 0.05]},
    "seeds": [0, 1],
    "select": {"metric": "loss", "statistic": "best", "goal": "min", "seeds": [1000, 1001]},
    "algorithms": {"fedavg": None, "scaffold": None, "mine": None},
    "figures": {"loss": {"kind": "convergence", "x": "rounds", "y": "loss", "caption": "Loss."}},
    "sizes": {"smoke": {}},
}


PROBLEMS = {
    "digits": {"kind": "softmax", "data": "digits", "partition": {"kind": "classes", "classes": 4}, "l2": 0.1},
    "own": {
        "kind": "logistic",
        "data": {"file": "own.csv", "label": "y"},
        "partition": {"kind": "dirichlet", "alpha": 1.0},
        "l2": 0.1,
    },
}


DIGITS, CSV = [f"digits/{id}" for id in EXPERIMENT["algorithms"]], [f"own/{id}" for id in EXPERIMENT["algorithms"]]


ALL = {*DIGITS, *CSV}


MINE = {"digits/mine", "own/mine"}


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A study with a record of two experiments, without results."""
    folder = tmp_path_factory.mktemp("edits")
    (folder / "config/experiments").mkdir(parents=True)
    (folder / "extensions").mkdir()
    (folder / "config/config.yaml").write_text("size: smoke\ntour: []\n")
    (folder / "extensions/mine.py").write_text(OWN)
    (folder / "extensions/scaling.py").write_text("FACTOR = 1.0\n")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc")).assign(y=np.arange(60) % 2)
    frame.to_csv(folder / "own.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FEDATLAS_DATA", str(folder / "data"))
        for name, problem in PROBLEMS.items():
            add_record(folder, name, EXPERIMENT | {"problem": problem, "optimum": name == "own"})
    for name in ("results", "data"):
        shutil.rmtree(folder / name)
    return folder


@pytest.fixture
def study(original, tmp_path, monkeypatch):
    """A copy of the study as working directory."""
    shutil.copytree(original, tmp_path / "study")
    monkeypatch.chdir(tmp_path / "study")
    monkeypatch.setenv("FEDATLAS_DATA", str(tmp_path / "study/data"))
    folders = property(lambda study: [study.root.resolve() / "record", tmp_path / "record"])
    monkeypatch.setattr(Study, "record_folders", folders)  # without the atlas's own
    return tmp_path / "study"


def taken():
    """Run files that the record gives, as experiment/algorithm."""
    forget_code()
    records = Records(Study.open())
    return {f"{name}/{path.split('/')[1]}" for name in PROBLEMS for path in records.held("smoke", name)}


def edit_module(monkeypatch, *names):
    """Let modules of the package have other code."""
    original = fingerprint._parse
    changed = {f"fedatlas.{name}" for name in names}
    monkeypatch.setattr(
        fingerprint,
        "_parse",
        lambda study, name: original(study, name) | ({"code": f"edited {name}"} if name in changed else {}),
    )


EDITS = {  # modules of the package, and the cells that are computed again
    "engine": (["federation.engine.simulation"], ALL),
    "draws": (["federation.streams"], ALL),
    "participation": (["federation.participation.full"], ALL),
    "one algorithm": (["federation.algorithms.scaffold"], {"digits/scaffold", "own/scaffold"}),
    "problem": (["federation.problems.logistic"], {*CSV}),
    "partition": (["federation.partitions.classes"], {*DIGITS}),
    "job of partitions": (["workflow.jobs.partition"], ALL),
    "job of optima": (["workflow.jobs.optimum"], {*CSV}),
    "reader of CSV": (["data.readers.tables"], {*CSV}),
    "preparation": (["data.readers"], ALL),
    "tuning rule": (["experiments.tuning.grid"], ALL),
    "confirmation": (["experiments.tuning"], ALL),
    "figures": (["results.figures.convergence"], set()),
}


def test_all_cells_are_taken_without_an_edit_results_or_data(study):
    assert taken() == ALL and not (study / "data/prepared").exists()


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_the_package_computes_what_depends_on_it(study, monkeypatch, edit):
    modules, computed = EDITS[edit]
    edit_module(monkeypatch, *modules)
    assert taken() == ALL - computed


def edit_csv(folder):
    frame = pd.read_csv(folder / "own.csv")
    frame.loc[:2, "y"] = 1 - frame.loc[:2, "y"]
    frame.to_csv(folder / "own.csv", index=False)


def edit_digits(folder):
    """Prepared data that lie here are others."""
    meta = store.prepare("digits", folder / "data") / "meta.json"
    content = json.loads(meta.read_text())
    content["arrays"]["X"]["sha256"] = "0" * 64
    meta.write_text(json.dumps(content))


def append(path, text):
    path.write_text(path.read_text() + text)


OWN_EDITS = {
    "labels of own data": (edit_csv, {*CSV}),
    "prepared data that lie here": (edit_digits, {*DIGITS}),
    "own algorithm": (lambda folder: append(folder / "extensions/mine.py", "X = 1\n"), MINE),
    "module beside it": (lambda folder: append(folder / "extensions/scaling.py", "FACTOR = -1.0\n"), MINE),
    "comment in it": (lambda folder: append(folder / "extensions/mine.py", "# words\n"), set()),
    "module that nobody imports": (lambda folder: append(folder / "extensions/other.py", "X = 1\n"), set()),
}


@pytest.mark.parametrize("edit", OWN_EDITS)
def test_an_edit_of_a_study_computes_what_depends_on_it(study, edit):
    change, computed = OWN_EDITS[edit]
    (study / "extensions/other.py").touch()
    change(study)
    assert taken() == ALL - computed


@pytest.mark.parametrize("change", ["test_rows", "scale"])
def test_an_edit_of_the_catalogue_computes_what_depends_on_it(study, monkeypatch, change):
    source = SOURCES.get("digits")
    original = SOURCES.get
    changed = dataclasses.replace(source, **{change: getattr(source, change) + 1})
    monkeypatch.setattr(SOURCES, "get", lambda name: changed if name == "digits" else original(name))
    assert taken() == {*CSV}


@pytest.mark.parametrize("change", ["number", "swapped files", "rows of nothing", "interrupted"])
def test_what_nobody_computed_again_is_not_taken(study, change):
    """One number, cells in each other's place, a verification of no runs, and one that was never written."""
    folder, verified = study / "record/smoke/own", study / "record/verified.csv"
    if change == "number":
        changed_file(folder / "scaffold.parquet", "number")
        assert taken() == ALL - {"own/scaffold"}
    elif change == "interrupted":
        verified.unlink()
        assert taken() == set()
    elif change == "swapped files":
        (folder / "fedavg.parquet").replace(study / "away")
        (folder / "scaffold.parquet").replace(folder / "fedavg.parquet")
        (study / "away").replace(folder / "scaffold.parquet")
        with pytest.raises(Exception, match="is not a record of fedatlas, or was damaged"):
            taken()
    else:
        lines = [line for line in verified.read_text().splitlines() if ",own,scaffold," not in line]
        verified.write_text("\n".join(lines) + "\n")
        assert taken() == ALL - {"own/scaffold"}
        assert Records(Study({"record": "any"})).held("smoke", "own").keys() == {
            f"runs/{id}/all.parquet" for id in EXPERIMENT["algorithms"]
        }


def test_an_edit_that_keeps_numbers_is_verified_and_one_that_does_not_is_not(study, monkeypatch, capsys):
    edit_module(monkeypatch, "federation.engine.simulation")
    assert taken() == set()
    for name in PROBLEMS:
        assert main(["record", "verify", name]) == 0
        assert "3 of 3 cells verified for today's code" in capsys.readouterr().out
    assert taken() == ALL
    rows = len(all_verifications(Study.open()).rows)

    edit_module(monkeypatch, "federation.algorithms.scaffold")
    original = run_module.compute_run
    monkeypatch.setattr(
        "fedatlas.records.verification.compute_run",
        lambda run, problem: [
            {**row, "loss": row["loss"] * (1 + 1e-8 * (run.algorithm == "scaffold"))} for row in original(run, problem)
        ],
    )
    forget_code()
    assert [main(["record", "verify", name]) for name in PROBLEMS] == [1, 1]
    output = capsys.readouterr().out
    assert "scaffold" in output and "in the record and" in output and "differs" in output
    assert len(all_verifications(Study.open()).rows) > rows
    assert taken() == ALL - {"own/scaffold", "digits/scaffold"}


def test_a_row_names_the_state_of_the_code_that_computed_it(study, monkeypatch):
    """Also where an edit was taken back that was verified meanwhile."""
    with monkeypatch.context() as patch:
        edit_module(patch, "federation.engine.simulation")
        forget_code()
        main(["record", "verify", "digits"])
    forget_code()
    main(["record", "verify", "digits", "--all", "--runs", "1"])
    states = [row.state for row in all_verifications(Study.open()).of("smoke", "digits")]
    assert states[-1] == states[0] and len(set(states)) == 2


def test_a_choice_that_tuning_would_not_make_today_is_a_difference(study, monkeypatch, capsys):
    """Although all numbers of runs are equal."""
    edit_module(monkeypatch, "experiments.tuning")
    original = run_module.replay_searches

    def choose_others(spec, *rest):
        return [dataclasses.replace(search, chosen={"lr": 0.5}) for search in original(spec, *rest)]

    monkeypatch.setattr("fedatlas.records.verification.replay_searches", choose_others)
    forget_code()
    assert main(["record", "verify", "own"]) == 1
    assert "chooses {'lr': 0.5} by today's code" in capsys.readouterr().out


def test_a_partition_of_older_code_that_lies_here_verifies_nothing(study, monkeypatch):
    """Runs are computed on data, partitions and optima that are made anew."""
    finish("own")
    edit_module(monkeypatch, "federation.partitions.dirichlet")
    kind = PARTITIONS.get("dirichlet")
    original = kind.split
    monkeypatch.setattr(kind, "split", lambda self, y, *rest: original(self, y[::-1], *rest))
    forget_code()
    assert main(["record", "verify", "own"]) == 1


def alter(monkeypatch, during=lambda: None):
    """Let second computations of SCAFFOLD differ. during: Called by each."""
    original = run_module.compute_run

    def altered(run, problem):
        during()
        return [{**row, "loss": row["loss"] + (run.algorithm == "scaffold")} for row in original(run, problem)]

    monkeypatch.setattr("fedatlas.records.verification.compute_run", altered)


def test_what_differs_on_this_machine_outweighs_what_the_atlas_brings(study, tmp_path, monkeypatch):
    (study / "record").rename(tmp_path / "record")  # as that of fedatlas
    alter(monkeypatch)
    assert main(["record", "verify", "own", "--all", "--runs", "12"]) == 1
    assert taken() == ALL - {"own/scaffold"}


def test_rows_that_another_command_adds_meanwhile_are_kept(study, monkeypatch):
    path = study / "record/verified.csv"
    lines = path.read_text().splitlines()
    other = lines[1].replace("2", "3", 1)
    alter(monkeypatch, lambda: other in path.read_text() or append(path, other + "\n"))
    main(["record", "verify", "own", "--all", "--runs", "2"])
    assert path.read_text().splitlines()[: len(lines) + 1] == [*lines, other]
    places = [(row.experiment, row.place) for row in all_verifications(Study.open()).rows[len(lines) :]]
    assert places and len(places) == len(set(places))


def test_results_that_differ_or_are_of_another_specification_are_not_added(study, capsys):
    finish("own")
    runs = study / "results/smoke/own/runs/scaffold/all.parquet"
    frame, meta = result_files.read(runs)
    result_files.write(runs, frame.assign(loss=frame["loss"] / 2), meta)
    shutil.rmtree(study / "record/smoke/own")
    assert main(["record", "add", "own", "--size", "smoke"]) == 2
    assert "nothing is added to the record" in capsys.readouterr().err and not (study / "record/smoke/own").exists()
    result_files.write(runs, frame, meta)
    assert main(["record", "add", "own", "--size", "smoke"]) == 0
    path = study / "config/experiments/own.yaml"
    path.write_text(path.read_text().replace("rounds: 4", "rounds: 5"))
    before = (study / "record/smoke/own/mine.parquet").read_bytes()
    assert main(["record", "add", "own", "--size", "smoke"]) == 2
    assert "has no run file of today's experiment" in capsys.readouterr().err
    assert (study / "record/smoke/own/mine.parquet").read_bytes() == before


def test_curves_of_changed_numbers_come_with_a_warning(study):
    record("own", "smoke")
    changed_file(study / "record/smoke/own/scaffold.parquet", "number")
    with pytest.warns(UserWarning, match="1 of 3 cells that nobody has computed again, such as one of scaffold"):
        record("own", "smoke")


def test_one_damaged_file_is_named_and_the_list_goes_on(study, capsys):
    (study / "record/smoke/digits/fedavg.parquet").write_bytes(b"PAR1")
    assert main(["record", "list"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any("digits/fedavg.parquet is not a record of fedatlas" in line for line in lines)
    assert any(" own " in line and "3 of 3 cells verified" in line for line in lines)
