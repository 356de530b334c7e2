"""`fedatlas clean` removes what can be made again, and nothing else."""

import os
from pathlib import Path

import pandas as pd
import pytest

from fedatlas import UserError
from fedatlas.cli.main import main
from fedatlas.data.locks import exclusive
from fedatlas.data.store import prepare
from fedatlas.experiments import result_files as files
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.dependencies import cell_modules
from fedatlas.experiments.fingerprint import fingerprint
from fedatlas.experiments.metadata import RunMeta
from fedatlas.io.files import atomic
from fedatlas.workflow import clean
from fedatlas.workflow.study import Study


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project whose results are a good run file, an old one, a damaged one, leftovers and things of the user's."""
    (tmp_path / "config/experiments").mkdir(parents=True)
    (tmp_path / "workflow").symlink_to(Path(__file__).parents[2] / "workflow")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config/config.yaml").write_text("tour: [tiny]\n")
    (tmp_path / "config/experiments/tiny.yaml").write_text(
        "{title: T, paper: yuan2020, source: S, problem: {kind: quadratic, dim: 3}, setting: {clients: 2, rounds: 2},"
        "grid: {local_steps: [1, 2, 3]}, algorithms: {fedavg: {set: {lr: 0.1}}}, figures: {}, sizes: {smoke: {}},"
        "select: {metric: loss, statistic: best, goal: min}}"
    )
    monkeypatch.setenv("FEDATLAS_DATA", "data")
    runs = tmp_path / "results/smoke/tiny/runs/fedavg"
    spec = CellSpec("fedavg", {}, {"kind": "quadratic"}, {"clients": 2})
    now = fingerprint(cell_modules(spec))
    for steps, made_by in ((1, now), (2, "old"), (9, "old")):
        meta = RunMeta(spec, made_by, [])
        files.write(runs / f"local_steps={steps}.parquet", pd.DataFrame({"a": [1]}), meta.plain())
    (runs / "local_steps=3.parquet").write_bytes(b"PAR1")
    (runs / "local_steps=1.part").write_bytes(b"x" * 2000)
    (runs / ".tmp-000000-1-0123456789ab-elsewhere.parquet").touch()  # of a machine of which nothing is known
    (tmp_path / "results/smoke/tiny/table.csv").write_text("")
    mine = tmp_path / "results/smoke/of_mine/runs/fedavg"
    mine.mkdir(parents=True)
    (mine / "all.parquet").write_bytes(b"mine")
    raw = tmp_path / "data/raw/toys"
    raw.mkdir(parents=True)
    for name in ("here", "here.part", "here.part.version", "away.part", ".gone.lock", "busy", "busy.part"):
        (raw / name).touch()
    prepare("digits")
    with atomic(runs / "live.parquet"), exclusive(raw / "busy"):  # as processes that are writing
        (runs / ".tmp-000000-1-0123456789ab-dead.parquet").touch()
        os.utime(runs / ".tmp-000000-1-0123456789ab-dead.parquet", (0, 0))
        yield tmp_path


OLD = {".tmp-000000-1-0123456789ab-dead.parquet", "local_steps=2.parquet", "local_steps=3.parquet"}
OLD |= {"here.part", "here.part.version", ".gone.lock"}


@pytest.mark.parametrize(
    "options, expected",
    [
        ([], OLD),
        (["--unfinished"], OLD | {"local_steps=1.part", "away.part"}),
        (["--prepared"], OLD | {"digits"}),
    ],
)
def test_what_goes(folder, capsys, options, expected):
    before = {path for path in folder.rglob("*") if path.exists()}
    assert main(["clean", "--dry-run", *options]) == 0
    assert {path for path in folder.rglob("*") if path.exists()} == before
    foreseen = capsys.readouterr().out
    assert "would be freed" in foreseen and all(name in foreseen for name in expected)

    assert main(["clean", *options]) == 0
    output = capsys.readouterr().out
    gone = {path for path in before if not path.exists()}
    assert {path.name for path in gone if path.parent.exists()} == expected
    assert output.splitlines()[:-1] == foreseen.splitlines()[:-1]
    assert main(["clean", *options]) == 0 and "0.000 MB  freed (0 items)" in capsys.readouterr().out


def test_not_while_a_workflow_runs(folder):
    (folder / ".snakemake/locks").mkdir(parents=True)
    (folder / ".snakemake/locks/0.input.lock").touch()
    result = clean.find_waste(Study.open())
    with pytest.raises(UserError, match="snakemake --unlock"):
        clean.remove(result)
    assert all(item.path.exists() for item in result) and result


def test_results_under_the_prefix_of_a_module(folder, capsys):
    (folder / "mine").mkdir()
    (folder / "results").rename(folder / "mine/results")
    assert main(["clean", "--dry-run"]) == 0 and "local_steps=2" not in capsys.readouterr().out
    assert main(["clean", "--results", "mine/results"]) == 0
    assert "mine/results/smoke/tiny/runs/fedavg/local_steps=2.parquet" in capsys.readouterr().out
    names = {path.name for path in (folder / "mine/results/smoke/tiny/runs/fedavg").glob("local_steps*")}
    assert names == {"local_steps=1.parquet", "local_steps=1.part", "local_steps=9.parquet"}
    assert main(["clean", "--results", "nowhere"]) == 2 and "there is no folder nowhere" in capsys.readouterr().err
    (folder / "mine/results").rename(folder / "results")  # where the fixture's writer has its file


def test_elsewhere(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["clean"]) == 2 and "in a study" in capsys.readouterr().err
