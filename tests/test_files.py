"""Files and folders are written whole or not at all, by however many processes, and are read as they were written."""

import multiprocessing
import os

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fedatlas.errors import LENGTH, UserError, did_you_mean, shorten
from fedatlas.io.files import (
    PREFIX,
    atomic,
    atomic_folder,
    is_orphan,
    parse_yaml,
    read_yaml,
    sweep,
    temporary_path,
    update_text,
)
from fedatlas.io.formats import read_csv, write_csv

WRITERS, WRITES, SIZE = 4, 50, 100_000


def write_file(barrier, path, letter):
    barrier.wait()
    for _ in range(WRITES):
        with atomic(path) as temporary:
            temporary.write_text(letter * SIZE)


def at_once(work, path):
    """Several processes that write the same path again and again."""
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(WRITERS)
    jobs = [context.Process(target=work, args=(barrier, path, letter)) for letter in "abcd"[:WRITERS]]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0] * WRITERS


def test_many_writers_leave_one_whole_file(tmp_path):
    path = tmp_path / "deep/out.txt"
    at_once(write_file, path)
    content = path.read_text()
    assert len(content) == SIZE and len(set(content)) == 1
    assert os.listdir(path.parent) == ["out.txt"]


@pytest.mark.parametrize("make", [atomic, atomic_folder])
def test_what_is_being_written_can_be_recognised_and_goes_when_the_block_fails(tmp_path, make):
    with pytest.raises(ZeroDivisionError), make(tmp_path / "out.npz") as temporary:
        assert temporary.parent == tmp_path and temporary.name.startswith(PREFIX) and temporary.suffix == ".npz"
        assert temporary.exists()
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == []


def test_a_failure_keeps_what_was_there(tmp_path):
    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic(path) as temporary:
        temporary.write_text("new")
        raise ZeroDivisionError
    assert path.read_text() == "old"


@pytest.mark.parametrize("make, noun", [(atomic, "regular file"), (atomic_folder, "folder")])
@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "other"])
def test_only_its_like_is_replaced(tmp_path, make, noun, kind):
    path, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    if kind == "link":
        elsewhere.mkdir() if make is atomic_folder else elsewhere.write_text("mine")
        path.symlink_to(elsewhere)
    elif kind == "dangling":
        path.symlink_to(elsewhere)
    elif kind == "pipe":
        os.mkfifo(path)
    elif make is atomic:
        path.mkdir()
    else:
        path.write_text("mine")
    before = path.lstat()
    with pytest.raises(UserError, match=f"cannot write {path}: it is not a {noun}"), make(path):
        raise AssertionError("the block must not run")
    assert path.lstat() == before and not list(tmp_path.glob(f"{PREFIX}*"))


def test_a_file_where_a_folder_should_be_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    for make in (atomic, atomic_folder):
        with pytest.raises(UserError, match=r"cannot write .*file/out: Not a directory"), make(tmp_path / "file/out"):
            pass


@pytest.mark.parametrize("make", [atomic, atomic_folder])
def test_what_a_killed_writer_leaves_is_swept_and_what_a_live_one_writes_is_not(tmp_path, make):
    (tmp_path / "of_mine").touch()
    orphan = temporary_path(tmp_path / "out")
    orphan.mkdir()
    with make(tmp_path / "out") as temporary:
        assert not is_orphan(orphan) and not is_orphan(temporary)
        os.utime(orphan, (0, 0))
        assert is_orphan(orphan)
        sweep(tmp_path)
        assert sorted(tmp_path.iterdir()) == sorted([temporary, tmp_path / "of_mine"])
    sweep(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["", "out", "000000-1-out", "of-another-program"])
def test_files_of_other_programs_are_never_swept(tmp_path, name):
    path = tmp_path / f"{PREFIX}{name}"
    path.touch()
    os.utime(path, (0, 0))
    with atomic(tmp_path / "out"):
        pass
    assert path.exists()


def test_a_file_is_written_only_if_its_content_changes(tmp_path):
    path = tmp_path / "a/spec.json"
    update_text(path, "1")
    before = path.stat().st_mtime_ns, path.stat().st_ino
    update_text(path, "1")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before
    update_text(path, "2")
    assert path.read_text() == "2"


def test_a_text_is_utf_8(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xef\xbb\xbftitle: x")
    assert read_yaml(path) == {"title": "x"}
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
    with pytest.raises(UserError, match=r"^mine.*(quote it|cannot be read as|not valid YAML|holds more than)"):
        parse_yaml(content, "mine")


def test_sentences_are_short_and_keep_both_ends():
    error = UserError(f"first {'x' * 5000} last")
    assert len(str(error)) <= LENGTH and str(error).startswith("first ") and str(error).endswith(" last")
    assert shorten("x" * LENGTH) == "x" * LENGTH and str(UserError(error)) == str(error)
    names = [f"name{number}" for number in range(500)]
    assert did_you_mean("name5x", names).endswith("more)") and len(did_you_mean("y" * 9999, names)) <= LENGTH
    assert did_you_mean("a", ["a", "b"]) == "; did you mean 'a'? (known: a, b)"


TEXTS = st.text(st.sampled_from("ab 1.-+=@'\t\n,\"<>&`*_[]{}|\\:/$^~#!é"), max_size=20)


@settings(max_examples=100)
@example(["-0.5", "=1+1", "'=x", "'-1", "it's", "@a", "+b", "-inf"], [-0.5, 2.0])
@given(st.lists(TEXTS, min_size=1, max_size=8), st.lists(st.floats(allow_nan=False), min_size=1, max_size=3))
def test_tables_are_read_as_they_were_written(tmp_path_factory, texts, numbers):
    path = tmp_path_factory.getbasetemp() / "table.csv"
    frame = pd.DataFrame({"text": texts, "number": (numbers * len(texts))[: len(texts)]})
    write_csv(path, frame)
    again = read_csv(path, keep_default_na=False, dtype={"text": str})
    pd.testing.assert_frame_equal(again, frame)
