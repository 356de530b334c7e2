"""Where raw files come from, in which order, and what can go wrong on the way over the network."""

import errno
import os
import threading

import pytest

from fedatlas.data.catalogue import File, Form
from fedatlas.errors import UserError
from tests.data.conftest import fetch


def test_the_order_is_data_directory_mirrors_official_address(official, server, put, root, tmp_path, monkeypatch):
    official(b"content", checksum=False)
    assert fetch("toy", root) == [root / "raw/toys/toy"]
    assert len(server.requests) == 1
    fetch("toy", root)
    assert len(server.requests) == 1  # in place already
    (root / "raw/toys/toy").unlink()
    put("second/toys/toy", b"second.")
    monkeypatch.setenv("FEDATLAS_DATA_MIRRORS", str(tmp_path / "second"))
    fetch("toy", root, tmp_path / "first")
    assert (root / "raw/toys/toy").read_bytes() == b"second."
    (root / "raw/toys/toy").unlink()
    put("first/toys/toy", b"first..")
    fetch("toy", root, tmp_path / "first")
    assert (root / "raw/toys/toy").read_bytes() == b"first.."
    assert len(server.requests) == 1


def test_a_stand_in_is_used_only_if_nearby_and_only_instead_of_the_official_files(
    register, server, put, root, tmp_path
):
    official = Form("libsvm", (File("toy", (f"{server.url}/toy",)),), {"labels": (-1, 1)})
    server.files["/toy"] = server.files["/other"] = b"-1 1:1\n1 1:1\n"
    register(forms=(official, Form("libsvm", (File("other", (f"{server.url}/other",)),), {"labels": (-1, 1)}, "less")))
    assert [path.name for path in fetch("toy", root)] == ["toy"]
    (root / "raw/toys/toy").unlink()
    put("mirror/toys/other", b"-1 1:1\n1 1:1\n")
    assert [path.name for path in fetch("toy", root, tmp_path / "mirror")] == ["other"]
    put("mirror/toys/toy", b"-1 1:1\n1 1:1\n")
    assert [path.name for path in fetch("toy", root, tmp_path / "mirror")] == ["toy"]


def test_the_next_fetch_sweeps_what_killed_ones_have_left(official, put, root, names_of_raw_files):
    official(b"content")
    for name in (".tmp-0123456789ab-toy", "other"):
        os.utime(put(f"data/raw/toys/{name}", b"left"), (0, 0))
    os.utime(put("data/prepared/.tmp-0123456789ab-toy", b"left"), (0, 0))
    fetch("toy", root)
    assert names_of_raw_files() == {"toy", "other"}


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
