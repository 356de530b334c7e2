"""What can go wrong on the way over the network."""

import errno
import hashlib
import os
import threading
import time

import pytest

from fedatlas.data import raw_files
from fedatlas.data.catalogue.base import File
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


@pytest.mark.parametrize("remainder", [b"x" * 1000, b"x" * len(BIG), b"x" * (len(BIG) + 5)], ids=len)
def test_a_part_that_belongs_to_another_file_is_dropped(official, server, put, root, remainder):
    official(BIG)
    put("data/raw/toys/toy.part", remainder)
    fetch("toy", root)
    assert (root / "raw/toys/toy").read_bytes() == BIG


def test_a_server_that_is_silent_is_given_up(official, server, root, monkeypatch):
    monkeypatch.setattr(raw_files, "SILENCE", 0.2)
    official(BIG)
    server.silence = 2.0
    began = time.monotonic()
    with pytest.raises(UserError, match=r"toy: .*Read timed out"):
        fetch("toy", root)
    assert time.monotonic() - began < 2


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


def test_two_at_once_download_once(official, server, root, names_of_raw_files):
    official(BIG)
    failures = failures_of(4, lambda: fetch("toy", root))
    assert not failures and len(server.requests) == 1
    assert names_of_raw_files() == {"toy", "toy.origin"}
