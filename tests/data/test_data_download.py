"""What can go wrong on the way over the network."""

import errno
import os
import threading

import pytest

from fedatlas.errors import UserError
from tests.data.conftest import fetch

BIG = bytes(range(256)) * 16384  # 4 MiB


def test_a_download_that_breaks_off_leaves_nothing(official, server, root, names_of_raw_files):
    official(BIG)
    server.cut = [1_500_000]
    with pytest.raises(UserError, match=r"toy: .*IncompleteRead"):
        fetch("toy", root)
    assert names_of_raw_files() == set()
    fetch("toy", root)
    assert (root / "raw/toys/toy").read_bytes() == BIG


def test_two_at_once_end_with_a_whole_file(official, root, names_of_raw_files):
    official(BIG)
    assert not failures_of(4, lambda: fetch("toy", root))
    assert (root / "raw/toys/toy").read_bytes() == BIG and names_of_raw_files() == {"toy"}


@pytest.mark.parametrize("status", [403, 404, 500])
def test_a_refusal_is_told(official, server, root, status, names_of_raw_files):
    official(b"content")
    server.status = [status]
    with pytest.raises(UserError, match=rf"could not be downloaded:\n.*toy: {status} "):
        fetch("toy", root)
    assert names_of_raw_files() == set()


def test_what_is_not_the_published_file_never_comes_in_place(official, server, root, names_of_raw_files):
    official(b"content")
    for content, complaint in ((b"contenT", "the checksum"), (b"cont", "4 bytes, not the 7 expected")):
        server.files["/toy"] = content
        with pytest.raises(UserError, match=f"what it gives has {complaint}"):
            fetch("toy", root)
        assert names_of_raw_files() == set()


def test_a_full_disk_ends_in_one_sentence(official, root, monkeypatch, names_of_raw_files):
    official(b"content")

    def write(*unused, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pooch.HTTPDownloader.__call__", write)
    with pytest.raises(UserError, match=f"cannot write {root}/raw/toys/toy: No space left on device; free some space"):
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
