"""A record grows by cases."""

import shutil

import pytest

from fedatlas import UserError
from fedatlas.cli.main import main
from fedatlas.publish.guide import write_guide
from fedatlas.records.lookup import Records, lacking_cells
from fedatlas.records.record import read_record
from fedatlas.records.results import record_tables
from fedatlas.workflow import gallery_page
from fedatlas.workflow.comparison import Request, prepare, run_path
from fedatlas.workflow.gallery_page import missing_records
from fedatlas.workflow.study import Study
from tests.workflow.finished import add_record
from tests.workflow.project import ROOT, TINY

SUITE = {
    **TINY,
    "cases": {
        "near": {"label": "Near", "group": "alike"},
        "far": {"label": "Far", "group": "unlike", "problem": {"heterogeneity": 5.0}},
    },
    "algorithms": {**TINY["algorithms"], "fedprox": {"set": {"nu": 0.1}, "undefined": {"unlike": "it is left out"}}},
    "figures": {"loss": {"kind": "loss_to_best", "caption": "Loss."}},
}


ADD = ["record", "add", "suite", "--size", "smoke", "--runs", "20"]


RECORD = "record/smoke/suite"


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A study with results of two cases, of which both are in its record."""
    folder = tmp_path_factory.mktemp("cases")
    (folder / "config/experiments").mkdir(parents=True)
    (folder / "config/config.yaml").write_text("size: smoke\ngallery: {smoke: [suite]}\n")
    add_record(folder, "suite", SUITE, "--runs", "20")
    return folder


@pytest.fixture
def folder(original, tmp_path, monkeypatch):
    """A copy of the study as working directory."""
    shutil.copytree(original, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def leave_out(folder, case):
    """Move the run files of a case away, and return where they are."""
    place = folder / "away"
    for path in (folder / "results/smoke/suite/runs").rglob(f"case={case}.parquet"):
        (place / path.parent.name).mkdir(parents=True, exist_ok=True)
        path.rename(place / path.parent.name / path.name)
    return place


def test_cells_are_added_and_kept_where_others_follow(folder, capsys):
    whole = read_record(folder / RECORD)
    shutil.rmtree(folder / RECORD)
    place = leave_out(folder, "far")
    assert main(ADD) == 0
    assert "2 cells without a run file of today's experiment are left out" in capsys.readouterr().out
    assert {key for _, key in read_record(folder / RECORD).cells} == {"case=near"}

    leave_out(folder, "near")
    for name in ("fedavg", "scaffold"):
        (place / name / "case=far.parquet").rename(folder / f"results/smoke/suite/runs/{name}/case=far.parquet")
    assert main(ADD) == 0
    again = read_record(folder / RECORD)
    assert {place: cell.checksum for place, cell in again.cells.items()} == {
        place: cell.checksum for place, cell in whole.cells.items()
    }


def test_nothing_that_needs_all_cases_is_made_of_some(folder, capsys, tmp_path):
    shutil.rmtree(folder / RECORD)
    leave_out(folder, "far")
    assert main([*ADD[:-1], "9"]) == 0  # of all cells: one that nobody has verified is not compared with
    study = Study.open()
    assert [entry.name for entry in missing_records(study)] == ["suite"]
    with pytest.raises(UserError, match="lacks fedavg, case=far"):
        record_tables(study, "suite", None)
    with pytest.raises(UserError, match="lacks fedavg, case=far"):
        write_guide(study, tmp_path / "guide.html", "suite")
    comparison = prepare(study, Request(["fedavg"], "suite", "smoke"))
    assert comparison.view.cases == {"near": "Near"} and comparison.left_out == 1 and not comparison.missing
    with pytest.raises(UserError, match="the record has no experiment of the gallery"):
        gallery_page.publish(study, tmp_path / "gallery.md", print)
    assert "suite (size smoke) cannot be shown from the record: the record lacks 2 of 5" in capsys.readouterr().out


def test_nothing_is_added_where_nothing_was_computed(folder, capsys):
    shutil.rmtree(folder / RECORD)
    shutil.rmtree(folder / "results/smoke/suite/runs")
    assert main(ADD) == 2 and "suite (size smoke) has no run file of today's experiment" in capsys.readouterr().err
    assert not (folder / RECORD).exists()


def test_the_run_files_of_a_case_are_asked_for_by_its_name(folder, capsys, monkeypatch):
    targets = []
    monkeypatch.setattr("fedatlas.workflow.launch.start", lambda names, *_: targets.extend(names) or 0)
    main(["run", "suite", "--case", "far"])
    assert targets == [f"results/smoke/suite/runs/{name}/case=far.parquet" for name in ("fedavg", "scaffold")]
    assert main(["run", "suite", "--case", "fra"]) == 2
    assert "unknown case 'fra'; did you mean 'far'" in capsys.readouterr().err


def test_the_readme_says_what_the_record_has_of_the_landscape():
    study, counts = Study({}, root=ROOT), {}
    for size in ("smoke", "laptop"):
        cells, lacking = study.cells(size, "landscape"), lacking_cells(study, size, "landscape")
        held = [cell for key, cell in cells.items() if key not in {(cell.id, cell.key) for cell in lacking}]
        algorithms, problems = {cell.id for cell in held}, {cell.point["case"] for cell in held}
        counts[size] = f"{len(algorithms)} on {len(problems)} at the size {size}"
    text = " ".join((ROOT / "README.md").read_text().split())
    assert f" problems, of which the record has {counts['smoke']}, and {counts['laptop']} |" in text


def test_the_example_of_the_readme_says_what_compare_takes_from_the_record():
    """Those algorithms of which the record has every cell of its problems, verified for today's code."""
    study = Study({}, root=ROOT)
    held = Records(study).held("smoke", "landscape")
    cells = list(study.cells("smoke", "landscape").values())
    problems = {cell.key for cell in cells if run_path(cell) in held}
    cells = [cell for cell in cells if cell.key in problems]
    lacking = {cell.id for cell in cells if run_path(cell) not in held}
    given = [cell for cell in cells if cell.id not in lacking]
    text = " ".join((ROOT / "README.md").read_text().split())
    others, files = len({cell.id for cell in given}), len(given)
    assert f"beside {others} others on {len(problems)} problems of landscape (size smoke)" in text
    assert f"from the record: {files} run files to train: {len(problems)} run files" in text
