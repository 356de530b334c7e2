"""What can go wrong on the way over the network."""

import hashlib
import threading
import time

import pytest

from fedatlas.data import download, locks
from fedatlas.data.catalogue.base import File
from fedatlas.data.raw_files import fetch
from fedatlas.data.store import prepare
from fedatlas.errors import UserError

BIG = bytes(range(256)) * 16384  # 4 MiB


def sha(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_a_download_resumes_where_it_broke_off(official, server, root, raw_files):
    official(BIG)
    server.cut = [1_500_000, 1_000_000]
    fetch("toy", root)
    assert (root / "raw/toys/toy").read_bytes() == BIG
    starts = [header for _, header in server.requests]
    assert starts == [None, "bytes=1500000-", "bytes=2500000-"]
    assert raw_files() == {"toy", "toy.origin"}


def test_a_later_run_resumes_what_an_earlier_one_left(official, server, root, monkeypatch, raw_files):
    monkeypatch.setattr(download, "_TRIES", 1)
    official(BIG)
    server.cut = [100_000]
    with pytest.raises(UserError, match="broke off after 100,000 of 4,194,304 bytes"):
        fetch("toy", root)
    assert raw_files() == {"toy.part"}
    fetch("toy", root)
    assert server.requests[-1][1] == "bytes=100000-" and (root / "raw/toys/toy").read_bytes() == BIG


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


OTHER = bytes(reversed(BIG))
ETAG, CHANGED = {"ETag": '"one"'}, {"ETag": '"two"'}
DATED = {"Last-Modified": "Sat, 01 Aug 2026 10:00:00 GMT"}


@pytest.mark.parametrize("checksum", [True, False])
@pytest.mark.parametrize("before", [ETAG, DATED, {"ETag": 'W/"one"'}, {}], ids=str)
@pytest.mark.parametrize("after", [ETAG, CHANGED, {}], ids=str)
@pytest.mark.parametrize("careless", [False, True])
def test_parts_of_two_versions_are_never_put_together(
    official, server, root, monkeypatch, raw_files, checksum, before, after, careless
):
    monkeypatch.setattr(download, "_TRIES", 1)
    official(BIG, checksum=checksum)
    server.files["/toy"], server.headers, server.cut, server.careless = OTHER, before, [100_000], careless
    with pytest.raises(UserError, match="broke off after 100,000"):
        fetch("toy", root)
    monkeypatch.setattr(download, "_TRIES", 3)
    server.files["/toy"], server.headers = BIG, after
    if before == after:
        server.files["/toy"] = OTHER if not checksum else BIG  # the same version as far as the server says
    fetch("toy", root)
    assert (root / "raw/toys/toy").read_bytes() == server.files["/toy"]
    assert raw_files() == {"toy", "toy.origin"}


@pytest.mark.parametrize("headers", [ETAG, DATED], ids=str)
def test_without_a_checksum_the_same_version_is_resumed(official, server, root, headers):
    official(BIG, checksum=False)
    server.cut, server.headers = [1_500_000, 1_000_000], headers
    fetch("toy", root)
    assert (root / "raw/toys/toy").read_bytes() == BIG
    assert [header for _, header in server.requests] == [None, "bytes=1500000-", "bytes=2500000-"]


def test_a_version_of_another_address_says_nothing(register, server, root, monkeypatch):
    monkeypatch.setattr(download, "_TRIES", 1)
    register(File("toy", (f"{server.url}/one", f"{server.url}/two"), len(BIG)))
    server.files, server.headers, server.cut = {"/one": OTHER, "/two": BIG}, ETAG, [100_000]
    fetch("toy", root)
    assert (root / "raw/toys/toy").read_bytes() == BIG


@pytest.mark.parametrize("slow_head", [False, True])
@pytest.mark.parametrize("pace", [(1, 0.01), (1, 30)], ids=["drips", "silent"])
def test_a_server_that_is_too_slow_is_given_up(official, server, root, monkeypatch, slow_head, pace):
    monkeypatch.setattr(download, "_WINDOW", 0.5)
    official(BIG)
    server.pace, server.slow_head = pace, slow_head
    began = time.monotonic()
    with pytest.raises(UserError, match=r"\d+ bytes in \d+ seconds"):
        fetch("toy", root)
    assert time.monotonic() - began < 5


def test_slow_is_counted_anew_in_each_window(official, server, root, monkeypatch):
    monkeypatch.setattr(download, "_WINDOW", 0.2)
    monkeypatch.setattr(download, "_LEAST", 1000)
    official(BIG[:80_000])
    server.pace = (4_000, 0.03)
    fetch("toy", root)
    assert (root / "raw/toys/toy").stat().st_size == 80_000


@pytest.mark.parametrize("length", [False, True])
def test_a_file_of_unknown_size_cannot_fill_the_disk(register, server, root, raw_files, length):
    source = register(File("toy", (f"{server.url}/toy",)))
    server.files["/toy"], server.declare_length = bytes(source.unpacked_limit + 1), length
    with pytest.raises(UserError, match=f"more than the {source.unpacked_limit:,} "):
        fetch("toy", root)
    assert raw_files() == set()


def test_a_server_that_cannot_resume_starts_over(official, server, root):
    official(BIG)
    server.cut, server.ranges = [1_500_000], False
    fetch("toy", root)
    assert (root / "raw/toys/toy").read_bytes() == BIG and len(server.requests) == 2


def test_a_server_that_does_not_say_how_long_is_believed_if_the_checksum_is_right(register, server, root):
    register(File("toy", (f"{server.url}/toy",), None, sha(BIG)))
    server.files["/toy"], server.declare_length, server.cut = BIG, False, [1000]
    with pytest.raises(UserError, match="what it gives has the checksum"):
        fetch("toy", root)
    fetch("toy", root)
    assert (root / "raw/toys/toy").read_bytes() == BIG


@pytest.mark.parametrize("status", [500, 503, 429, 408, 416])
def test_passing_faults_are_tried_again(official, server, root, status):
    official(b"content")
    server.status = [status, status]
    fetch("toy", root)
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [403, 404, 410])
def test_refusals_are_not_tried_again(official, server, root, status, raw_files):
    official(b"content")
    server.status = [status]
    with pytest.raises(UserError, match=f"could not be downloaded:\n.*toy: HTTP {status}"):
        fetch("toy", root)
    assert len(server.requests) == 1 and raw_files() == set()


def test_it_gives_up_in_the_end(official, server, root):
    official(b"content")
    server.status = [500] * 99
    with pytest.raises(UserError, match=r"HTTP 500 Internal Server Error, 5 times"):
        fetch("toy", root)
    assert len(server.requests) == 5


@pytest.mark.parametrize(
    "content, complaint",
    [(b"contenT", "has the checksum"), (b"content and more", "offers 16 bytes"), (b"cont", "offers 4 bytes")],
)
def test_what_is_not_the_published_file_never_comes_in_place(official, server, root, content, complaint, raw_files):
    official(b"content")
    server.files["/toy"] = content
    with pytest.raises(UserError, match=complaint):
        fetch("toy", root)
    assert raw_files() == set()


def test_an_endless_answer_is_cut(official, server, root, raw_files):
    official(b"content")
    server.files["/toy"], server.declare_length = BIG, False
    with pytest.raises(UserError, match="gives more than the 7 bytes expected"):
        fetch("toy", root)
    assert raw_files() == set()


def test_the_next_address_is_tried_when_one_fails(register, server, root):
    register(File("toy", (f"{server.url}/gone", f"{server.url}/toy"), 7, sha(b"content")))
    server.files["/toy"] = b"content"
    fetch("toy", root)
    assert [path for path, _ in server.requests] == ["/gone", "/toy"]


def test_a_dead_mirror_is_given_up_after_its_first_file(register, server, root, monkeypatch):
    monkeypatch.setattr(download, "_TRIES", 2)
    register(*(File(name, (f"{server.url}/{name}",)) for name in ("one", "two")))
    server.files |= {"/one": b"1", "/two": b"2"}
    attempts = []
    real = download._transfer
    monkeypatch.setattr(download, "_transfer", lambda url, *rest: (attempts.append(url), real(url, *rest))[1])
    fetch("toy", root, "http://127.0.0.1:9/mirror")
    assert attempts == ["http://127.0.0.1:9/mirror/toys/one"] * 2 + [f"{server.url}/one", f"{server.url}/two"]


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


def test_two_at_once_download_once(official, server, root, raw_files):
    official(BIG)
    failures = failures_of(4, lambda: fetch("toy", root, progress=False))
    assert not failures and len(server.requests) == 1
    assert raw_files() == {"toy", "toy.origin"}


def test_a_file_where_the_folder_should_be_is_named(official, put, root):
    official(b"content")
    put("data/raw", b"in the way")
    with pytest.raises(UserError, match=f"cannot write under {root}"):
        fetch("toy", root)
    with pytest.raises(UserError, match=f"cannot write under {root} .*: make it a folder that you may write to"):
        prepare("toy", root)
