"""Files that a person names: every reader takes regular files of bounded length alone, and says so in one sentence."""

import json
import os
from pathlib import Path

import pytest

from fedatlas.cli.arguments import json_file
from fedatlas.data import sources
from fedatlas.errors import LENGTH, UserError, did_you_mean, nearest, shorten
from fedatlas.experiments import result_files
from fedatlas.federation.participation import trace
from fedatlas.io import csv, text
from fedatlas.io.yaml import parse, read_yaml
from fedatlas.publish.report.facts import read_facts
from fedatlas.publish.report.images import reduce_colours
from fedatlas.publish.report.verdicts import read_verdicts
from fedatlas.registry.bibliography import read_file

READERS = {
    "YAML": read_yaml,
    "JSON": json_file,
    "bibliography": lambda path: read_file(path, "references.bib"),
    "trace": lambda path: trace.read(path, 3),
    "CSV of results": csv.read,
    "about.json": read_facts,
    "claims.csv": read_verdicts,
    "run file": result_files.read,
    "metadata of a run file": result_files.read_meta,
    "figure": reduce_colours,
    "custom data": lambda path: sources.info({"file": str(path), "format": "csv", "label": "y"}),
}
HOSTILE = {
    "pipe": lambda path: os.mkfifo(path),
    "endless device": lambda path: path.symlink_to("/dev/zero"),
    "folder": lambda path: path.mkdir(),
    "link to itself": lambda path: path.symlink_to(path),
    "missing": lambda path: None,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_no_file_is_refused_at_once(tmp_path, monkeypatch, reader, kind):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine"
    HOSTILE[kind](path)
    try:
        READERS[reader](path)
    except ValueError as error:
        sentence = str(error)
    except Exception as error:  # argparse's, which its parser turns into a sentence
        assert reader == "JSON", repr(error)
        sentence = str(error)
    assert str(path) in sentence and "\n" not in sentence and len(sentence) <= LENGTH


def test_a_text_is_of_bounded_length_and_utf_8(tmp_path, monkeypatch):
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xef\xbb\xbftitle: x")
    assert read_yaml(path) == {"title": "x"}
    monkeypatch.setattr(text, "MOST_BYTES", 5)
    with pytest.raises(UserError, match="has more than"):
        read_yaml(path)
    path.write_bytes(b"\xff")
    with pytest.raises(UserError, match="is not text in UTF-8"):
        read_yaml(path)
    with pytest.raises(UserError, match="cannot be read"):
        read_yaml("a\0b")


HOSTILE_YAML = [
    "!!int ''", "!!float ''", "!!bool x", "!!timestamp x", "!!set [a]", "!!map [a]", "!!seq {a: b}", "!!binary x",
    "!!omap [a]", "9" * 5000, f"0x{'f' * 300}", f"-{'9' * 400}", "2001-02-30", "!mine x", "<<", r'"\ud800"', "\ud800",
    "[" + "1," * 200_001 + "]", "!!int 1:x", "{<<: [a]}",
]  # fmt: skip


@pytest.mark.parametrize("content", HOSTILE_YAML, ids=lambda content: content[:12])
def test_yaml_that_is_of_no_json_type_is_refused(content):
    with pytest.raises(UserError, match=r"^mine.*(quote it|cannot be read as|not valid YAML)"):
        parse(content, "mine")


def test_yaml_of_json_types_stays_as_it_is():
    value = {"a": [1, -2.5, True, None, "x", 10**300], "b": {"c": "é"}}
    assert parse(json.dumps(value), "mine") == value and parse("a: 1e-3", "mine") == {"a": 1e-3}


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("fewer_rounds", "fewer"),  # which is a word of it, though first_round has more of its letters
        ("fewerr", "fewer"),
        ("first_rounds", "first_round"),
        ("fedavg-m", "fedavgm"),
        ("scafold", "scaffold"),
        ("nesterov", None),
    ],
)
def test_the_guess_is_the_nearest_name(name, guess):
    sentence = nearest(name, ["first_round", "fewer", "fedavg", "fedavgm", "scaffold"])
    assert sentence == (f"; did you mean {guess!r}?" if guess else "")


def test_a_nul_is_the_name_of_no_data_set():
    with pytest.raises(UserError, match=r"^unknown data set '\\x00'"):
        sources.info(parse(r'"\0"', "mine"))


def test_sentences_are_short_and_keep_both_ends():
    error = UserError(f"first {'x' * 5000} last")
    assert len(str(error)) <= LENGTH and str(error).startswith("first ") and str(error).endswith(" last")
    assert shorten("x" * LENGTH) == "x" * LENGTH and str(UserError(error)) == str(error)
    names = [f"name{number}" for number in range(500)]
    assert did_you_mean("name5x", names).endswith("more)") and len(did_you_mean("y" * 9999, names)) <= LENGTH
    assert did_you_mean("a", ["a", "b"]) == "; did you mean 'a'? (known: a, b)"


def test_the_package_opens_what_a_person_names_through_the_opener():
    """A new reader that decodes a file by itself is either listed here, or waits for a pipe."""
    package = Path(text.__file__).parents[1]
    readers = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if any(word in path.read_text() for word in (".read_text(", ".read_bytes(", "json.load("))
    }
    assert readers <= {
        "data/download.py", "data/prepared.py", "data/raw_files.py",  # of the data directory
        "federation/problems/interactive.py",
        "experiments/fingerprint.py", "registry/kinds.py", "workflow/specifications.py",  # of the code and the workflow
        "io/files.py", "io/machine.py",  # of the system
        "publish/comparison/compare.py", "publish/guide/page.py", "publish/report/charts.py", "publish/report/page.py",
        "workflow/console.py", "workflow/study.py",  # written by the same command
        "publish/tracking/records.py", "workflow/comparison.py", "records/results.py",
        "cli/arguments.py", "workflow/experiment_files.py",  # of standard input, and of titles in lists
    }  # fmt: skip
