"""Each example of docs/how-to/algorithm.md and adding.md is one file of a study, listed, shown and used as it is."""

import contextlib
import io
import re
import runpy
import sys
from pathlib import Path

import pytest
import yaml

from fedatlas.cli.main import main

ROOT = Path(__file__).parents[1]
PAGE = "".join((ROOT / f"docs/how-to/{page}.md").read_text(encoding="utf-8") for page in ("algorithm", "adding"))
SECTIONS = {text.partition("\n")[0]: text for text in PAGE.split("\n## ")[1:]}
EXAMPLE = re.compile(r"^`(extensions/\w+\.py)`:\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXPERIMENT = re.compile(r"`(config/experiments/\w+\.yaml)`:\n\n```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
YAML = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMES = {  # names by section of `fedatlas list`
    "algorithms": "fedmine",
    "problems": "log-cosh",
    "architectures": "tanh",
    "partitions": "by-label",
    "participation": "cyclic",
    "sampling": "windows",
    "topologies": "star",
    "channels": "half",
    "drivers": "relay",
    "schedules": "step",
    "tuning-rules": "cautious",
    "readers": "words",
    "data": "a1a",
    "figures": "bars",
    "checks": "stable",
    "metrics": "max_norm",
    "cost-models": "satellite",
}


def block(language, section):
    """The only block of a language in a section of the page."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", SECTIONS[section], re.MULTILINE | re.DOTALL)
    return text


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A new study with the files of the page."""
    folder = tmp_path_factory.mktemp("added") / "my-study"
    assert main(["init", str(folder)]) == 0
    for path, text in [*EXAMPLE.findall(PAGE), *EXPERIMENT.findall(PAGE)]:
        assert not (folder / path).exists()
        (folder / path).write_text(text, encoding="utf-8")
    with open(folder / "references.bib", "a") as file:
        file.write("\n" + block("bibtex", "A paper"))
    head, *rows = block("csv", "All together").splitlines()
    (folder / "visits.csv").write_text("\n".join([head, *(rows * 12)]) + "\n")
    return folder


@pytest.fixture(scope="module")
def output(study):
    """The words that tests/use_examples.py prints of each name in the study."""
    experiments = dict(EXPERIMENT.findall(PAGE)).values()
    examples = {
        title: yaml.safe_load("".join(part for part in YAML.findall(text) if part not in experiments) or "{}")
        for title, text in SECTIONS.items()
    }
    (study / "examples.yaml").write_text(yaml.safe_dump(examples))
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as out:
        patch.chdir(study)
        patch.setattr(sys, "argv", ["use_examples", *NAMES.values()])
        runpy.run_module("tests.use_examples", run_name="__main__")
    lines = out.getvalue().splitlines()
    return {line.partition(": ")[0]: line.partition(": ")[2].split() for line in lines}


def test_every_block_is_an_example_that_is_used():
    assert len(EXAMPLE.findall(PAGE)) == PAGE.count("```python") == len(NAMES)
    assert len(EXPERIMENT.findall(PAGE)) == 2
    assert set(re.findall(r"^```(\w+)$", PAGE, re.MULTILINE)) == {"bash", "python", "yaml", "bibtex", "csv"}


@pytest.mark.parametrize(("section", "name"), NAMES.items())
def test_one_file_is_enough(section, name, output):
    assert section in output[name][0].split(",")
    assert "shown" in output[name]
    assert output[name][-1] == "used"
