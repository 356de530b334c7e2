"""`fedatlas init` writes a study that runs at once."""

import pytest
import yaml

from fedatlas import UserError
from fedatlas.cli.main import main
from fedatlas.workflow import study
from fedatlas.workflow.study import create_study
from tests.workflow.studies import jobs, snakemake

FILES = {
    ".gitignore",
    "README.md",
    "Snakefile",
    "config/config.yaml",
    "config/experiments/first.yaml",
    "extensions/my_algorithm.py",
    "profiles/default/config.yaml",
    "profiles/slurm/config.yaml",
    "references.bib",
}


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_new_study_has_all_that_it_needs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["init", "my.study-2"]) == 0
    assert "cd my.study-2" in capsys.readouterr().out
    assert files(tmp_path / "my.study-2") == FILES
    assert (tmp_path / "my.study-2/README.md").read_text().startswith("# my.study-2\n")


def test_its_graph_has_the_own_algorithm_beside_three_tuned_baselines(tmp_path):
    study = create_study(str(tmp_path / "mine"))
    plan = snakemake(study, "-np")
    assert {"prepare", "partition", "train", "figure", "claims", "track_tour", "report_tour", "tour"} <= jobs(plan)
    names = ("my_algorithm", "fedavg", "fedprox", "scaffold")
    assert all(f"results/smoke/first/runs/{name}/all.parquet" in plan.stdout for name in names)
    experiment = yaml.safe_load((study / "config/experiments/first.yaml").read_text())
    assert set(experiment["algorithms"]) == set(names) and len(experiment["tune"]["lr"]) > 2
    assert jobs(snakemake(study, "-np", "fedac_fig1")) >= {"fedac_fig1", "report_one"}  # the atlas's own


def test_its_algorithm_is_comparable_at_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(create_study(str(tmp_path / "mine")))
    monkeypatch.delenv("FEDATLAS_DATA_MIRRORS", raising=False)
    assert main(["compare", "MY_ALGORITHM", "--quick", "--dry-run"]) == 0
    assert "my_algorithm beside 15 others on 3 problems of landscape (size smoke)" in capsys.readouterr().out


@pytest.mark.slow
def test_it_runs(tmp_path):
    study = create_study(str(tmp_path / "mine"))
    snakemake(study)
    results = study / "results"
    assert all((results / "smoke/first/figures" / name).exists() for name in ("curves.png", "tuning.svg"))
    assert (results / "claims.csv").read_text().count("first,smoke") == 1
    assert "My Algorithm" in (results / "report.html").read_text() and (results / "mlflow.db").exists()
    assert "Nothing to do: all results are up to date" in snakemake(study).stdout


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "-x", "a/..", "a\n", "*", "mine/"])
def test_names_that_are_none(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    if name == "mine/":
        assert files(create_study(name)) == FILES  # a slash at the end is not part of the name
        return
    with pytest.raises(UserError, match="is not a name for a study: name a new folder, such as my-study"):
        create_study(name)
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/paper.tex").write_text("x")
    (tmp_path / "file").write_text("x")
    assert main(["init", "mine"]) == 2
    assert capsys.readouterr().err == "fedatlas: mine is not empty: give the name of a new folder\n"
    assert main(["init", "file"]) == 2 and main(["init", "file/mine"]) == 2
    assert files(tmp_path) == {"mine/paper.tex", "file"}


def test_it_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "shipped", lambda: tmp_path / "nowhere")
    with pytest.raises((UserError, OSError)):
        create_study(str(tmp_path / "mine"))
    assert not list(tmp_path.iterdir())
