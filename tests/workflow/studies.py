"""Studies, folders of one's own, in which the workflow of this package is run."""

import os
import sys
from pathlib import Path

import yaml

import fedatlas
from tests.workflow.project import TINY, fork_server, forked_commands

SOURCE = Path(fedatlas.__file__).parents[1]
MODULE = """
from fedatlas import SNAKEFILE

configfile: "config/config.yaml"

rule everything:
    input:
        "copy.csv",

module atlas:
    snakefile: SNAKEFILE
    config: config

use rule * from atlas as atlas_*

rule copy:
    input:
        "{place}results/smoke/tiny/table.csv",
        "{place}results/smoke/tiny/figures/loss.png",
    output:
        "copy.csv",
    shell:
        "cp {{input[0]}} {{output}}"
"""


def environment(**extra):
    """The environment of a process in which this package is installed, as a person's shell has it outside of make."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    base = {key: value for key, value in os.environ.items() if not key.startswith(("FEDATLAS_", "MAKE"))}
    return {**base, "PATH": path, "PYTHONPATH": str(SOURCE), **extra}


def snakemake(folder, *arguments, check=True, **extra):
    """Run snakemake in a study."""
    variables = environment(**extra)
    variables["PATH"] = f"{forked_commands()}:{variables['PATH']}"
    done = fork_server().run(["--cores", "2", *arguments], folder, variables, timeout=240, safe_path=True)
    assert not check or done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done


def jobs(done):
    """Names of the rules of a dry run's jobs."""
    lines = (line.split() for line in (done.stdout + done.stderr).splitlines())
    return {words[1].rstrip(":") for words in lines if len(words) == 2 and words[0] in ("rule", "localrule")}


def importing(folder, prefix="", **change):
    """A folder whose Snakefile uses the atlas as a module, and draws an experiment of its own."""
    (folder / "config/experiments").mkdir(parents=True)
    folder_prefix = f"{prefix}/" if prefix else ""
    (folder / "config/config.yaml").write_text(f"size: smoke\ntour: [tiny]\nresults: {folder_prefix}results\n")
    (folder / "config/experiments/tiny.yaml").write_text(yaml.safe_dump(TINY | change, sort_keys=False))
    (folder / "Snakefile").write_text(MODULE.format(place=folder_prefix))
    return folder
