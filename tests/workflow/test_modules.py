"""The workflow as a module of another one takes an experiment of one's own to a figure."""

import os
import shutil
import subprocess

import pytest
import yaml

from tests.workflow.project import ROOT, TINY
from tests.workflow.studies import importing, jobs, snakemake

TWO = """
module more:
    snakefile: SNAKEFILE
    config: {{"tour": ["tiny"], "size": "smoke", "results": "more"{more}}}

use rule * from more as more_*
ruleorder: atlas_prepare > more_prepare
"""


@pytest.mark.parametrize("prefix", [pytest.param("", marks=pytest.mark.slow), "a/b"])
def test_the_graph(tmp_path, prefix):
    folder = importing(tmp_path / "mine", prefix)
    plan = snakemake(folder, "-n")
    assert jobs(plan) == {"atlas_train", "atlas_table", "atlas_figure", "copy", "everything"}
    assert f" {prefix}/results/smoke/tiny/table.csv".replace(" /", " ") in plan.stdout
    assert {"atlas_tiny", "atlas_report_one", "atlas_track"} <= jobs(snakemake(folder, "-n", "atlas_tiny"))
    assert "atlas_report_tour" in jobs(snakemake(folder, "-n", "atlas_tour"))
    warned = plan.stdout + plan.stderr
    assert "localrules" not in warned and "Traceback" not in warned


def test_only_a_part_of_the_configuration_may_be_for_it(tmp_path):
    folder = importing(tmp_path / "mine")
    text = (folder / "Snakefile").read_text()
    (folder / "Snakefile").write_text(text.replace("config: config", 'config: config["atlas"]'))
    (folder / "config/config.yaml").write_text("day: 2026-01-01\natlas: {size: smoke, tour: [tiny]}\n")
    assert "atlas_figure" in jobs(snakemake(folder, "-n"))
    (folder / "Snakefile").write_text(text)
    done = snakemake(folder, "-n", check=False)
    assert done.returncode and "config/config.yaml: unknown key 'day'" in done.stdout + done.stderr


def test_mistakes_come_up_under_the_names_that_the_importing_workflow_gives(tmp_path):
    folder = importing(tmp_path / "mine", "sixth", colour="red")
    for target in ("atlas_tiny", "sixth/results/report.html"):
        done = snakemake(folder, "-n", target, check=False)
        output = done.stdout + done.stderr
        assert done.returncode and "Snakefile" in output and "has no option 'colour'" in output
    done = snakemake(folder, "-n", check=False)
    assert done.returncode and "tiny.yaml (size smoke) has no option 'colour'" in done.stdout + done.stderr


def test_two_modules_share_data_and_have_one_environment(tmp_path):
    folder = importing(tmp_path / "mine")
    text = (folder / "Snakefile").read_text()
    (folder / "Snakefile").write_text(text + TWO.format(more=""))
    assert {"atlas_figure", "more_figure"} <= jobs(snakemake(folder, "-n", "atlas_tiny", "more_tiny"))
    assert jobs(snakemake(folder, "-n", "more_fedac_fig1")) >= {"atlas_prepare", "more_optimum", "more_train"}
    (folder / "Snakefile").write_text(text + TWO.format(more=', "data": "elsewhere"'))
    done = snakemake(folder, "-n", check=False)
    assert (
        done.returncode and "two modules of the atlas in one workflow need the same data" in done.stdout + done.stderr
    )


def test_a_figure_is_drawn_in_another_folder(tmp_path):
    folder = importing(tmp_path / "mine", "sixth")
    snakemake(folder)
    assert (folder / "copy.csv").read_text().startswith("algorithm,")
    assert (folder / "sixth/results/smoke/tiny/figures/loss.png").exists()
    assert not (folder / "results").exists()
    assert "Nothing to be done" in snakemake(folder).stderr


def test_a_prefix_is_refused(tmp_path):
    folder = importing(tmp_path / "mine")
    text = (folder / "Snakefile").read_text()
    (folder / "Snakefile").write_text(text.replace("config: config", 'config: config\n    prefix: "sixth"'))
    done = snakemake(folder, "-n", check=False)
    assert done.returncode and "name another folder by `results` in its config" in done.stdout + done.stderr


def test_another_folder_than_the_checkout(tmp_path):
    (tmp_path / "config/experiments").mkdir(parents=True)
    (tmp_path / "config/experiments/tiny.yaml").write_text(yaml.safe_dump(TINY, sort_keys=False))
    plan = snakemake(tmp_path.parent, "-n", "-s", str(ROOT / "workflow/Snakefile"), "-d", str(tmp_path), "tiny")
    assert "tiny" in jobs(plan) and "results/laptop/tiny/table.csv" in plan.stdout
    done = snakemake(tmp_path, "-n", "-s", str(ROOT / "workflow/Snakefile"), check=False)
    assert done.returncode and "config/config.yaml names no experiments for the tour" in done.stdout + done.stderr


@pytest.mark.slow
def test_what_snakedeploy_makes_draws_a_figure(tmp_path):
    """The repository is cloned from here; git answers for the address that snakedeploy and Snakemake ask."""
    if not shutil.which("snakedeploy"):
        pytest.skip("snakedeploy is not installed")
    repository, address = tmp_path / "clone", "https://github.com/fedatlas/fedatlas"
    shutil.copytree(
        ROOT, repository, ignore=shutil.ignore_patterns(".git", ".venv", ".snakemake", "data", "results", "shared")
    )
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"], ["tag", "v0"]):
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *words], cwd=repository, check=True)
    instead = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{repository}.insteadOf",
        "GIT_CONFIG_VALUE_0": address,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    deploy = ["snakedeploy", "deploy-workflow", address, "deployed", "--tag", "v0"]
    done = subprocess.run(deploy, cwd=tmp_path, env={**os.environ, **instead}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "deployed"
    (folder / "config/experiments/tiny.yaml").write_text(yaml.safe_dump(TINY, sort_keys=False))
    assert "tour" in jobs(snakemake(folder, "-n", **instead))
    snakemake(folder, "results/smoke/tiny/figures/loss.png", **instead)
    assert (folder / "results/smoke/tiny/figures/loss.png").exists()
