"""Experiments are checked where they are asked for, and only there, at the size that is asked for."""

import shlex

import pytest
import yaml

from tests.workflow.project import TINY

INNER = (  # as executors call Snakemake for one job
    "--allowed-rules train --force --nolock --ignore-incomplete --no-hooks --notemp --force-use-threads "
    "--target-files-omit-workdir-adjustment --wait-for-files-file /dev/null --mode {mode} --config size=laptop"
)


@pytest.fixture
def mixed(project):
    """A tour of tiny and of an experiment that has one size; and experiments with mistakes of several kinds."""

    def write(name, **change):
        text = yaml.safe_dump(TINY | change, sort_keys=False)
        (project.folder / f"config/experiments/{name}.yaml").write_text(text)

    write("only-smoke", sizes={"smoke": {}})
    write("broken", colour="red")
    write("two words")
    (project.folder / "config/config.yaml").write_text("tour: [tiny, only-smoke]\nsize: laptop\n")
    return project


@pytest.mark.parametrize(
    "arguments",
    [
        "--cores all",
        "tour tiny results/laptop/tiny/table.parquet results/smoke/only-smoke/claims.csv",
        "all only-smoke results/report.html --config size=smoke experiments=[tiny,only-smoke]",
    ],
)
def test_mistakes_of_other_experiments_stop_nothing(mixed, arguments):
    mixed.snakemake("-n", *arguments.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--config tour=[broken]", "broken.yaml (size smoke) has no option 'colour'"),
        ("results/paper/report.html --config experiments=[broken]", "broken.yaml: there is no size 'paper'"),
        ("gallery", "config/config.yaml names no experiments for the gallery"),
        ("tour --config tour=[]", "config/config.yaml names no experiments for the tour"),
        ("tiny --config 'gallery={paper: [tini]}'", "there is no experiment 'tini'; did you mean 'tiny'"),
        ("only-smoke", "only-smoke.yaml: there is no size 'laptop' (known: smoke)"),
        ("all --config 'experiments=[two words]'", "the name 'two words' must consist of letters, digits, _ and -"),
    ],
)
def test_mistakes_are_one_sentence_before_any_job(mixed, arguments, message):
    words = [*shlex.split(arguments), "--logger", "fedatlas", "--cores", "2"]
    done = mixed.snakemake(*words, check=False)
    text = done.stdout + done.stderr
    assert done.returncode != 0 and message in text and "Traceback" not in text and "Exception" not in text, text
    assert message in mixed.snakemake("-n", *words[:-4], check=False).stdout
    assert not (mixed.folder / "results/smoke").exists()


def test_an_experiment_that_is_called_like_a_rule_must_be_renamed(project):
    (project.folder / "config/experiments/tour.yaml").write_text(yaml.safe_dump(TINY, sort_keys=False))
    assert "The name tour is already used by another rule" in project.snakemake("-n", check=False).stdout


@pytest.mark.parametrize("mode", ["remote", "subprocess"])
def test_a_job_in_a_process_of_its_own_asks_for_its_experiment_alone(mixed, mode):
    (mixed.folder / "config/config.yaml").write_text("tour: [broken]\nsize: laptop\nexperiments: [broken]\n")
    job = "train:size=smoke,experiment=only-smoke,id=fedavg,key=all"
    done = mixed.snakemake("--target-jobs", job, *INNER.format(mode=mode).split(), check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(mixed.run_files()) == ["only-smoke/runs/fedavg/all.parquet"]
