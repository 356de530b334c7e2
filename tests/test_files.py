"""Files and folders are written whole or not at all, by however many processes."""

import multiprocessing
import os

import pytest

from fedatlas.errors import UserError
from fedatlas.io.files import PREFIX, atomic, atomic_folder, is_orphan, sweep, temporary_path, update_text

WRITERS, WRITES, LENGTH = 4, 50, 100_000


def write_file(barrier, path, letter):
    barrier.wait()
    for _ in range(WRITES):
        with atomic(path) as temporary:
            temporary.write_text(letter * LENGTH)


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
    assert len(content) == LENGTH and len(set(content)) == 1
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
