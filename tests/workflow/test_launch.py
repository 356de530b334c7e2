"""`fedatlas run` makes experiments of a study and of the atlas, in any folder."""

import re
import subprocess
import sys

import pytest
import yaml

from fedatlas import UserError
from fedatlas.cli.main import main
from fedatlas.workflow import launch
from fedatlas.workflow.study import Study
from tests.workflow.project import TINY, forked_commands
from tests.workflow.studies import environment


def fedatlas(folder, *words, **options):
    command, variables = [sys.executable, "-m", "fedatlas.cli.main", *words], environment()
    variables["PATH"] = f"{forked_commands()}:{variables['PATH']}"  # for the jobs
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, **options)


def test_an_experiment_of_the_atlas_from_an_empty_folder(tmp_path):
    done = fedatlas(tmp_path, "run", "fedac_fig1", "--size", "smoke", "--cores", "2", "-n")
    assert done.returncode == 0, done.stderr
    rules = {line.split()[0] for line in done.stdout.splitlines() if re.fullmatch(r"\w+ +\d+", line)}
    assert {"prepare", "optimum", "train", "track", "report_one", "fedac_fig1"} <= rules
    assert len(done.stdout.splitlines()) < 40 and "jobs done" not in done.stdout
    assert "fedac_fig1 at size smoke\n\njobs     5 run files with 315 runs\ntime     ~" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} <= {"data", "results", ".snakemake"}


@pytest.mark.slow
def test_an_experiment_of_ones_own_is_made_and_its_places_are_told(tmp_path):
    (tmp_path / "experiments").mkdir()
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text("experiments_folder: experiments\nresults: made/here\nsize: smoke\n")
    (tmp_path / "experiments/tiny.yaml").write_text(yaml.safe_dump(TINY, sort_keys=False))
    done = fedatlas(tmp_path, "run", "tiny", "--cores", "2", timeout=240)
    assert done.returncode == 0, done.stderr
    output = done.stdout.splitlines()
    assert (
        output[1].endswith("s.") and "jobs done in" in output[1] and len((done.stdout + done.stderr).splitlines()) < 20
    )
    assert any(line.startswith("tiny (smoke)  1 claim: ") for line in output)
    assert "Made      made/here/smoke/tiny/report.html" in output
    assert "MLflow    sqlite:///made/here/mlflow.db: `fedatlas ui` shows the runs" in output
    assert all((tmp_path / f"made/here/{name}").exists() for name in ("smoke/tiny/report.html", "mlflow.db"))
    assert not (tmp_path / "results").exists()
    assert "SCAFFOLD is better" in fedatlas(tmp_path, "show", "--claims").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fedac_fgi1"], "there is no experiment 'fedac_fgi1'; did you mean 'fedac_fig1'"),
        (["xyzzy"], "there is no experiment 'xyzzy'; `fedatlas list experiments` names them all"),
        (["fedac_fig1", "--size", "smok"], "invalid choice: 'smok' (choose from"),
        (["fedac_fig1", "--cores", "0"], "0 is not a number of cores"),
        (["fedac_fig1", "--forceall"], "unrecognized arguments: --forceall"),
        (["fedac_fig1", "tour"], "unrecognized arguments: tour"),
    ],
)
def test_mistakes(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    assert main(["run", *words]) == 2 and message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_other_words_are_for_snakemake(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands = []

    class Process:
        def __init__(self, command, env):
            commands.append(command[4:])

        def wait(self):
            return 0

    monkeypatch.setattr(launch.subprocess, "Popen", Process)
    assert main(["run", "fedac_fig1", "--size", "smoke", "--", "--config", "data=x", "--forceall"]) == 0
    assert main(["run", "fedac_fig1", "--size", "paper", "--cores", "3"]) == 0
    assert main(["run", "fedac_fig1"]) == 0
    assert all(words[5:7] == ["--logger", "fedatlas"] for words in commands)
    first, second, third = (words[7:] for words in commands)
    assert first == ["--config", "size=smoke", "data=x", "--forceall"]
    assert second == ["--config", "size=paper"] and third == []
    assert commands[1][:5] == ["fedac_fig1", "--snakefile", launch.SNAKEFILE, "--cores", "3"]


def test_experiments_of_the_atlas_are_listed_besides_ones_own(tmp_path, monkeypatch, capsys):
    (tmp_path / "config/experiments").mkdir(parents=True)
    (tmp_path / "config/experiments/mine.yaml").write_text("{extends: fedac_fig1, title: Mine, sizes: {smoke: {}}}")
    (tmp_path / "config/experiments/fedac_fig2.yaml").write_text("{extends: fedac_fig2, title: Other}")
    monkeypatch.chdir(tmp_path)
    assert main(["list", "experiments"]) == 0
    out = capsys.readouterr().out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "mine Mine" in lines and "fedac_fig2 Other" in lines
    assert "(of the atlas)" in out and out.count("  fedac_fig2 ") == 1
    atlas = Study.open()
    mine, shipped = (atlas.experiment("smoke", name) for name in ("mine", "fedac_fig1"))
    assert (mine.file, shipped.file) == ("config/experiments/mine.yaml", "config/experiments/fedac_fig1.yaml")
    assert atlas.selected() == ["fedac_fig2", "mine"] and mine.paper == shipped.paper
    assert atlas.experiment("smoke", "fedac_fig2").title == "Other"
    with pytest.raises(UserError, match="there is no experiment 'min'"):
        atlas.experiment("smoke", "min")
