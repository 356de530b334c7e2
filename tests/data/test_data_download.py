"""What can go wrong on the way over the network."""

import errno
import hashlib
import os
import threading
import time

import pytest

from fedatlas.data import locks, raw_files
from fedatlas.data.catalogue.base import File
from fedatlas.data.store import prepare
from fedatlas.errors import UserError
from tests.data.conftest import fetch

BIG = bytes(range(256)) * 16384  # 4 MiB


def sha(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_a_download_resumes_where_it_broke_off(official, server, root, names_of_raw_files):
    official(BIG)
    server.cut = [1_500_000, 1_000_000]
    fetch("toy", root)
    assert (root / "raw/toys/toy").read_bytes() == BIG
    starts = [0 if header is None else int(header[6:-1]) for _, header in server.requests]
    assert len(starts) == 3 and 0 < starts[1] < 1_500_000 < starts[2]
    assert names_of_raw_files() == {"toy", "toy.origin"}


def test_a_later_run_resumes_what_an_earlier_one_left(official, server, root, monkeypatch, names_of_raw_files):
    monkeypatch.setattr(raw_files, "TRIES", 1)
    official(BIG)
    server.cut = [100_000]
    with pytest.raises(UserError, match=r"toy: IncompleteRead.100000 bytes read, 4094304 more"):
        fetch("toy", root)
    assert names_of_raw_files() == {"toy.part"}
    fetch("toy", root)
    assert server.requests[-1][1] == "bytes=65536-" and (root / "raw/toys/toy").read_bytes() == BIG


@pytest.mark.parametrize("remainder", [b"x" * 1000, b"x" * len(BIG), b"x" * (len(BIG) + 5)], ids=len)
def test_a_part_that_belongs_to_another_file_is_dropped(official, server, put, root, remainder):
    official(BIG)
    put("data/raw/toys/toy.part", remainder)
    fetch("toy", root)
    assert (root / "raw/toys/toy").read_bytes() == BIG


def test_without_a_checksum_nothing_is_glued_together(official, server, put, root):
    official(BIG, checksum=False)
    put("data/raw/toys/toy.part", BIG[:1000])
    fetch("toy", root)
    assert server.requests == [("/toy", None)] and (root / "raw/toys/toy").read_bytes() == BIG


def test_a_server_that_is_silent_is_given_up(official, server, root, monkeypatch):
    monkeypatch.setattr(raw_files, "SILENCE", 0.2)
    official(BIG)
    server.silence = 2.0
    began = time.monotonic()
    with pytest.raises(UserError, match=r"toy: .*Read timed out"):
        fetch("toy", root)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("length", [False, True])
def test_a_file_of_unknown_size_cannot_fill_the_disk(register, server, root, names_of_raw_files, length):
    source = register(File("toy", (f"{server.url}/toy",)))
    server.files["/toy"], server.declare_length = bytes(source.unpacked_limit + 1), length
    with pytest.raises(UserError, match=f"more than the {source.unpacked_limit:,} "):
        fetch("toy", root)
    assert names_of_raw_files() == set()


def test_a_server_that_cannot_resume_starts_over(official, server, root):
    official(BIG)
    server.cut, server.ranges = [1_500_000], False
    fetch("toy", root)
    assert (root / "raw/toys/toy").read_bytes() == BIG


def test_a_server_that_does_not_say_how_long_is_believed_if_the_checksum_is_right(register, server, root):
    register(File("toy", (f"{server.url}/toy",), None, sha(BIG)))
    server.files["/toy"], server.declare_length, server.cut = BIG, False, [1000]
    with pytest.raises(UserError, match="what it gives has the checksum"):
        fetch("toy", root)
    fetch("toy", root)
    assert (root / "raw/toys/toy").read_bytes() == BIG


@pytest.mark.parametrize("status", [500, 503, 429, 408])
def test_passing_faults_are_tried_again(official, server, root, status):
    official(b"content")
    server.status = [status, status]
    fetch("toy", root)
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [403, 404, 410])
def test_refusals_are_not_tried_again(official, server, root, status, names_of_raw_files):
    official(b"content")
    server.status = [status]
    with pytest.raises(
        UserError, match=r"could not be downloaded:\n.*toy: (HTTP 403 Forbidden|the server has no such file)"
    ):
        fetch("toy", root)
    assert len(server.requests) == 1 and names_of_raw_files() == set()


def test_it_gives_up_in_the_end(official, server, root):
    official(b"content")
    server.status = [500] * 99
    with pytest.raises(UserError, match=r"HTTP 500 Internal Server Error"):
        fetch("toy", root)
    assert len(server.requests) == 5


@pytest.mark.parametrize(
    "content, complaint",
    [
        (b"contenT", "what it gives has the checksum"),
        (b"content and more", "it gives more than the 7 bytes expected"),
        (b"cont", "what it gives has 4 bytes, not the 7 expected"),
    ],
)
def test_what_is_not_the_published_file_never_comes_in_place(
    official, server, root, content, complaint, names_of_raw_files
):
    official(b"content")
    server.files["/toy"] = content
    with pytest.raises(UserError, match=complaint):
        fetch("toy", root)
    assert names_of_raw_files() == set()


def test_an_endless_answer_is_cut(official, server, root, names_of_raw_files):
    official(b"content")
    server.files["/toy"], server.declare_length = BIG, False
    with pytest.raises(UserError, match="gives more than the 7 bytes expected"):
        fetch("toy", root)
    assert names_of_raw_files() == set()


def test_the_next_address_is_tried_when_one_fails(register, server, root):
    register(File("toy", (f"{server.url}/gone", f"{server.url}/toy"), 7, sha(b"content")))
    server.files["/toy"] = b"content"
    fetch("toy", root)
    assert [path for path, _ in server.requests] == ["/gone", "/toy"]


def test_a_dead_mirror_is_given_up_after_its_first_file(register, server, root, monkeypatch):
    register(*(File(name, (f"{server.url}/{name}",)) for name in ("one", "two")))
    server.files |= {"/one": b"1", "/two": b"2"}
    attempts = []
    real = raw_files.download
    monkeypatch.setattr(raw_files, "download", lambda url, *rest: (attempts.append(url), real(url, *rest))[1])
    fetch("toy", root, "http://127.0.0.1:9/mirror")
    assert attempts == ["http://127.0.0.1:9/mirror/toys/one", f"{server.url}/one", f"{server.url}/two"]


def test_a_full_disk_ends_in_one_sentence(official, root, monkeypatch, names_of_raw_files):
    official(b"content")

    def write(self, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(raw_files._Bounded, "write", write)
    with pytest.raises(UserError, match=f"cannot write under {root}: No space left on device; free some space"):
        fetch("toy", root)
    assert names_of_raw_files() == set()


def failures_of(count, work):
    """What a function raised in threads that ran it at once."""
    failures = []

    def run():
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_one_at_a_time_makes_a_file(tmp_path):
    inside, most = 0, 0

    def work():
        nonlocal inside, most
        for _ in range(300):
            with locks.exclusive(tmp_path / "toy"):
                inside += 1
                most = max(most, inside)
                inside -= 1

    assert not failures_of(6, work) and most == 1 and not list(tmp_path.iterdir())


def test_two_at_once_download_once(official, server, root, names_of_raw_files):
    official(BIG)
    failures = failures_of(4, lambda: fetch("toy", root))
    assert not failures and len(server.requests) == 1
    assert names_of_raw_files() == {"toy", "toy.origin"}


def test_a_file_where_the_folder_should_be_is_named(official, put, root):
    official(b"content")
    put("data/raw", b"in the way")
    with pytest.raises(UserError, match=f"cannot write under {root}"):
        fetch("toy", root)
    with pytest.raises(UserError, match=f"cannot write under {root}: Not a directory, or name another folder"):
        prepare("toy", root)
