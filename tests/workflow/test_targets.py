"""Experiments are checked where they are asked for, and only there, at the size that is asked for."""

import pytest
import yaml

from fedatlas.errors import UserError
from fedatlas.workflow.study import Study
from fedatlas.workflow.targets import check_targets, parse_targets, target_files, titles
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
    write("train")
    write("all")
    write("report_one")
    write("two words")
    (project.folder / "config/config.yaml").write_text("tour: [tiny, only-smoke]\nsize: laptop\n")
    return project


@pytest.mark.parametrize(
    "arguments",
    [
        "--cores all",
        "tour tiny results/laptop/tiny/table.parquet results/smoke/only-smoke/claims.csv fedac_thm42",
        "all only-smoke results/report.html --config size=smoke experiments=[tiny,only-smoke]",
    ],
)
def test_mistakes_of_other_experiments_stop_nothing(mixed, arguments):
    mixed.snakemake("-n", *arguments.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("all", "experiments/all.yaml: an experiment cannot be called all, as a rule of the workflow is called so"),
        ("train", "experiments/train.yaml: an experiment cannot be called train"),
        ("--config tour=[broken]", "broken.yaml (size smoke) has no option 'colour'"),
    ],
)
def test_mistakes_stop_snakemake(mixed, arguments, message):
    done = mixed.snakemake("-n", *arguments.split(), check=False)
    text = done.stdout + done.stderr
    assert done.returncode != 0 and message in text and "Traceback" not in text, text


@pytest.mark.parametrize(
    ("targets", "settings", "message"),
    [
        (["broken"], {}, r"broken\.yaml \(size laptop\) has no option 'colour'"),
        (["tiny", "results/smoke/broken/table.parquet"], {}, r"broken\.yaml \(size smoke\) has no option 'colour'"),
        (["./results/paper/report.html"], {"experiments": ["broken"]}, r"broken\.yaml: there is no size 'paper'"),
        (["tour"], {"tour": ["broken"]}, r"\(size smoke\) has no option 'colour'"),
        (["results/claims.csv"], {"tour": ["broken"]}, r"\(size smoke\) has no option 'colour'"),
        (["gallery"], {"gallery": {"smoke": ["tiny", "broken"]}}, r"\(size smoke\) has no option 'colour'"),
        (["gallery"], {}, "names no experiments for the gallery"),
        (["tiny"], {"gallery": {"paper": ["tini"]}}, "unknown experiment 'tini'; did you mean 'tiny'"),
        (["all"], {"experiments": ["tiny", "broken"]}, r"\(size laptop\) has no option 'colour'"),
        (["only-smoke"], {}, r"only-smoke\.yaml: there is no size 'laptop' \(known: smoke\)"),
        (["report_one"], {}, "an experiment cannot be called report_one"),
        (["two words"], {}, "the name 'two words' must consist of letters, digits, _ and -; rename the file"),
    ],
)
def test_mistakes_are_told_where_they_are_asked_for(mixed, targets, settings, message):
    content = {
        "data": "data",
        "data_mirrors": [],
        "mlflow_uri": "sqlite:///results/mlflow.db",
        "size": "laptop",
        "tour": ["tiny"],
        "experiments": "all",
        **settings,
    }
    with pytest.raises(UserError, match=message):
        check_targets(Study.from_config(content, root=mixed.folder), targets, {"all", "train", "report_one"})


@pytest.mark.parametrize("mode", ["remote", "subprocess"])
def test_a_job_in_a_process_of_its_own_asks_for_its_experiment_alone(mixed, mode):
    (mixed.folder / "config/config.yaml").write_text("tour: [broken]\nsize: laptop\nexperiments: [broken]\n")
    job = "train:size=smoke,experiment=only-smoke,id=fedavg,key=all"
    done = mixed.snakemake("--target-jobs", job, *INNER.format(mode=mode).split(), check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(mixed.run_files()) == ["only-smoke/runs/fedavg/all.parquet"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--cores all", []),
        ("--cores all -n --config size=smoke", []),
        ("-c2 all", ["all"]),
        ("all --cores all", ["all"]),
        ("--until train --cores 2 results/report.html tiny", ["results/report.html", "tiny"]),
        ("--cores 2 -- tiny", ["tiny"]),
        ("--profile workflow/profiles/slurm tiny", ["tiny"]),
        ("--arguments --of --another program", []),
    ],
)
def test_targets_are_read_as_snakemake_reads_them(arguments, expected):
    assert parse_targets(arguments.split()) == expected


def test_a_figure_that_is_a_part_of_an_experiment_is_answered(project, monkeypatch):
    project.write_experiment(source="Figures 2 and 3(a)")
    (project.folder / "config/experiments/tiny.yaml").rename(project.folder / "config/experiments/mine_one.yaml")
    (project.folder / "config/config.yaml").write_text("tour: [mine_one]\nsize: smoke\n")
    monkeypatch.chdir(project.folder)
    atlas = Study.from_config({"tour": ["mine_one"], "size": "smoke"})
    for renamed in (str, "atlas_{}".format, "{}_too".format):
        with pytest.raises(UserError, match="no experiment 'mine_fig3': Figure 3 is a part of mine_one; ask"):
            check_targets(atlas, [renamed("mine_fig3")], [], renamed)
        assert check_targets(atlas, [renamed("mine_one"), renamed("tour")], [], renamed) == [("smoke", "mine_one")]
        assert target_files(atlas, [renamed("mine_one"), "x.csv"], renamed) == [
            "results/smoke/mine_one/report.html",
            "x.csv",
        ]
    assert check_targets(atlas, ["mine_fig3"], ["mine_fig3"]) == []  # a rule of the importing workflow
    (project.folder / "mine_fig3").touch()
    assert check_targets(atlas, ["mine_fig3", "anything"], []) == []  # a file, and what Snakemake will say more about


def test_rules_have_descriptions(project):
    output = project.snakemake("--list-rules").stdout.splitlines()
    assert "tiny (Tiny)" in output and len(output) > 15
    assert all(line.endswith(")") and len(line) < 121 for line in output)
    atlas = Study.from_config({})
    assert titles(atlas, ["--list-target-rules"])["fedac_fig1"].startswith("FedAc keeps")
    assert titles(atlas, ["fedac_fig1"]) == {}
