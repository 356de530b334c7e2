"""A reader who follows a page: enters folders, writes files, and runs or reads commands."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from snakemake.cli import get_argument_parser

from fedatlas.cli.list import FAMILIES, SECTIONS
from fedatlas.cli.main import main
from fedatlas.cli.parser import parser
from fedatlas.cli.show import names as described_names
from fedatlas.data.catalogue import SOURCES
from fedatlas.io.files import read_yaml
from fedatlas.testing import CONFORMANCE_TESTS
from fedatlas.workflow.configuration import CONFIG
from fedatlas.workflow.study import Study
from tests.docs.blocks import ROOT, blocks, commands

INSTALLING = {"make", ".", "conda", "pip", "pytest", "docker"}  # what these install is there when tests run
OTHER_PROGRAMS = {"python", "export", "squeue", "scancel"}
RULES = {
    name
    for path in ROOT.glob("workflow/**/*")
    if path.name == "Snakefile" or path.suffix == ".smk"
    for name in re.findall(r"^(?:rule|checkpoint) (\w+):", path.read_text(), re.M)
}
FEDATLAS, SNAKEMAKE = parser(), get_argument_parser()
MAKEFILE = (ROOT / "Makefile").read_text()
MAKE_TARGETS = set(re.findall(r"^([\w./]+):", MAKEFILE, re.M))
MAKE_VARIABLES = set(re.findall(r"^(\w+) \?=|\$\(if \$\((\w+)\)", MAKEFILE, re.M))


def experiments():
    """Return the experiments that a study can name."""
    return Study.open().files.paths


# What the value of an option must be, and of a word of a subcommand, by a function that returns all such names.
NAMES = {
    "algorithm": FAMILIES["algorithms"].names, "data": SOURCES.names,
    "problem": FAMILIES["problems"].names, "partition": FAMILIES["partitions"].names,
    "model": FAMILIES["cost models"].names, "on": experiments, "only": lambda: CONFORMANCE_TESTS,
}  # fmt: skip
NAMES_OF = {
    "list": {"what": lambda: SECTIONS}, "show": {"name": described_names}, "cite": {"names": described_names},
    "data": {"names": SOURCES.names}, "compare": {"names": FAMILIES["algorithms"].names},
    "check": {"names": FAMILIES["algorithms"].names}, "run": {"name": experiments},
}  # fmt: skip


def follow(page, run):
    """Write the files of a page, run its Python if it is a tutorial, and its commands.

    Args:
        page: Path of the page, from the root of the repository.
        run: Function of the words of a command and its exit status.
    """
    namespace = {}
    for block in blocks(page):
        if block.file:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python" and page.parent.name == "tutorial":  # other pages have tests that run theirs
            exec(compile(block.text, str(page), "exec"), namespace)
        elif block.language == "bash":
            for words, comment in commands(block.text):
                if words[0] == "cd":
                    os.chdir(words[1])
                else:
                    run(words, 2 if comment.startswith("is refused") else 0)


def run_quick(words, status):
    """Run a command in this process if it takes no time, and otherwise read it."""
    if words[0] == "fedatlas" and is_quick(words):
        assert main(words[1:]) == status, words
    else:
        assert status == 0
        read(words)


def is_quick(words):
    """Return whether a command of fedatlas ends at once."""
    if words[1] == "train":
        return has_data(words)
    if words[1] == "show":
        return "--claims" not in words  # which reads results
    return words[1] in {"init", "list", "cite"} or (words[1] == "check" and "--only" in words)


def has_data(words):
    """Return whether the data of a command need no fetch."""
    data = words[words.index("--data") + 1] if "--data" in words else "digits"
    return data not in SOURCES.names() or SOURCES.get(data).embedded


def run_cheap(words, status):
    """Run a command as a reader does if it takes a minute or two at most, and otherwise read it."""
    if words[0] in INSTALLING or not shutil.which(words[0]) or is_costly(words):
        assert status == 0
        read(words)
        return
    command = [sys.executable, "-m", *words] if words[0] in ("fedatlas", "snakemake") else words
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert process.returncode == status, f"{words}\n{process.stdout}{process.stderr}"


def is_costly(words):
    """Return whether a command submits jobs, serves pages, fetches data, or makes more than the smallest size."""
    if words[0] == "snakemake":
        arguments, study = open_study(words)
        large = study.config["size"] != "smoke" or {"all", "gallery"} & {*arguments.targets}
        return bool(arguments.profile or (arguments.targets and large))
    if words[0] == "fedatlas":
        return words[1] == "ui" or words[1:3] == ["data", "fetch"] or "laptop" in words or not has_data(words)
    return False


def read(words):
    """Assert that a program understands a command, and that what the command names is there."""
    if words[0] == "make":
        for word in words[1:]:
            name, equals, _ = word.partition("=")
            assert name in ({name for names in MAKE_VARIABLES for name in names} if equals else MAKE_TARGETS), words
    elif words[0] == "snakemake":
        _read_snakemake(words)
    elif words[0] == "fedatlas":
        _read_fedatlas(words)
    else:
        assert words[0] in INSTALLING | OTHER_PROGRAMS, words


def open_study(words):
    """Return the arguments of a command of snakemake, and the study with the configuration that it gives."""
    arguments = SNAKEMAKE.parse_args(words[1:])
    config = {key: yaml.safe_load(value) for key, value in (pair.split("=") for pair in arguments.config or ())}
    return arguments, Study((read_yaml(CONFIG) or {}) | config)


def _read_snakemake(words):
    arguments, study = open_study(words)
    assert all((Path(profile) / "config.yaml").exists() for profile in arguments.profile or ()), words
    assert {*(arguments.set_resources or ()), *(arguments.set_threads or ())} <= RULES, words
    for target in arguments.targets:
        assert target in RULES or _validate(study, target), words


def _validate(study, target):
    """Return whether an experiment, or a file of one or of a report, can be made; other tests validate experiments."""
    return not {*Path(target).parts}.isdisjoint({*study.files.paths, "report.html"})


def _read_fedatlas(words):
    arguments = FEDATLAS.parse_args(words[1:])
    for option, known in (NAMES | NAMES_OF.get(words[1], {})).items():
        value = getattr(arguments, option, None) or []
        for text in value if isinstance(value, list) else [value]:
            name = text.partition(",")[0]
            assert name in known() or Path(name).exists(), (words, name)
    if words[1] == "run":
        size = {"size": arguments.size} if arguments.size else {}
        assert _validate(Study((read_yaml(CONFIG) or {}) | size), arguments.name), words


def subcommands(command):
    """Return the subcommands of a parser by name."""
    return command._subparsers._group_actions[0].choices if command._subparsers else {}
