"""What can go wrong on the way over the network."""

import threading

import pytest

from fedatlas.errors import UserError
from tests.data.conftest import fetch

BIG = bytes(range(256)) * 16384  # 4 MiB


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
