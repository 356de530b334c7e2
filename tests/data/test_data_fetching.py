"""Where raw files come from, in which order, and what happens on the way."""

import os

from fedatlas.data.catalogue import File, Form
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
