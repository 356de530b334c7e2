"""Where raw files come from, in which order, and what happens on the way."""

import hashlib
import os
from pathlib import Path

import pytest

from fedatlas.data.catalogue.base import File, Form
from fedatlas.data.paths import format_mirrors, list_mirrors, resolve_directory
from fedatlas.data.prepared import load
from fedatlas.data.raw_files import load_origin
from fedatlas.data.store import find_obstacle, prepare, verify
from fedatlas.errors import UserError
from fedatlas.workflow.graph import Graph
from fedatlas.workflow.study import Study
from tests.data.conftest import fetch


def sha(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_the_directory_is_the_argument_then_the_environment_then_data(monkeypatch, tmp_path):
    assert resolve_directory(tmp_path) == tmp_path
    monkeypatch.setenv("FEDATLAS_DATA", "/some/where")
    assert str(resolve_directory()) == "/some/where"
    monkeypatch.delenv("FEDATLAS_DATA")
    assert str(resolve_directory()) == "data"


def test_a_file_is_no_data_directory(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="file is a file: the data directory is a folder"):
        resolve_directory(tmp_path / "file")


def test_mirrors_are_folders_and_urls_split_at_white_space_or_commas(monkeypatch):
    monkeypatch.setenv("FEDATLAS_DATA_MIRRORS", "/a, https://host:8080/b\n/c /a")
    assert list_mirrors() == ["/a", "https://host:8080/b", "/c"]
    assert list_mirrors("/with a space") == ["/with a space", "/a", "https://host:8080/b", "/c"]
    assert list_mirrors(["/c", "/d"]) == ["/c", "/d", "/a", "https://host:8080/b"]


def test_the_order_is_data_directory_mirrors_official_address(official, server, put, root, tmp_path, monkeypatch):
    official(b"content")
    assert fetch("toy", root) == [root / "raw/toys/toy"]
    assert load_origin(root / "raw/toys/toy") == f"{server.url}/toy" and len(server.requests) == 1
    fetch("toy", root)
    assert len(server.requests) == 1  # in place already
    (root / "raw/toys/toy").unlink()
    put("second/toys/toy", b"content")
    monkeypatch.setenv("FEDATLAS_DATA_MIRRORS", str(tmp_path / "second"))
    fetch("toy", root, tmp_path / "first")
    assert load_origin(root / "raw/toys/toy") == str(tmp_path / "second/toys/toy")
    (root / "raw/toys/toy").unlink()
    put("first/toys/toy", b"content")
    fetch("toy", root, tmp_path / "first")
    assert load_origin(root / "raw/toys/toy") == str(tmp_path / "first/toys/toy")
    assert len(server.requests) == 1


def test_a_mirror_may_be_a_url(register, server, root, toy_text, names_of_raw_files):
    register(File("toy", (), len(toy_text), sha(toy_text)))
    server.files["/base/toys/toy"] = toy_text
    prepare("toy", root, f"{server.url}/base/")
    assert load("toy", root).X.shape == (2, 3)
    assert names_of_raw_files() == {"toy", "toy.origin"}
    verify("toy", root)


def test_a_mirrors_wrong_file_is_passed_over(official, server, put, root, tmp_path, names_of_raw_files):
    official(b"content")
    put("mirror/toys/toy", b"contenT")
    fetch("toy", root, tmp_path / "mirror")
    assert (root / "raw/toys/toy").read_bytes() == b"content"
    assert load_origin(root / "raw/toys/toy").startswith(server.url)
    assert names_of_raw_files() == {"toy", "toy.origin"}


def test_a_wrong_file_in_the_data_directory_is_refused_and_kept(official, put, root):
    official(b"content")
    path = put("data/raw/toys/toy", b"c0ntent")
    with pytest.raises(UserError, match=f"{path} has the checksum sha256:.* expected: delete it"):
        fetch("toy", root)
    put("data/raw/toys/toy", b"cut")
    with pytest.raises(UserError, match=f"{path} has 3 bytes, not the 7 expected: delete it"):
        fetch("toy", root)
    assert path.read_bytes() == b"cut"


def test_what_is_missing_offline_is_told_with_a_line_for_each_address(register, root, tmp_path, names_of_raw_files):
    register(File("toy.bz2", ("http://127.0.0.1:9/toy.bz2",), 1234, "md5:" + "0" * 32))
    with pytest.raises(UserError) as caught:
        fetch("toy", root, [tmp_path / "mirror", "http://127.0.0.1:9"])
    output = str(caught.value)
    for part in ("'toy' needs toy.bz2", "1,234 bytes", "md5:0000", "http://127.0.0.1:9/toys/toy.bz2", "refused"):
        assert part in output
    assert f"put the file at {root / 'raw/toys/toy.bz2'}" in output and "FEDATLAS_DATA_MIRRORS" in output
    assert str(tmp_path / "mirror") in output and len(output.splitlines()) == 3
    assert names_of_raw_files() == set()


def test_a_host_that_does_not_exist_is_not_tried_again(register, root, monkeypatch):
    import socket

    calls = []

    def no_such_host(*unused, **also_unused):
        calls.append(1)
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", no_such_host)
    register(File("toy", ("http://no.such.host.invalid/toy",)))
    with pytest.raises(UserError, match="Name or service not known"):
        fetch("toy", root)
    assert len(calls) == 1


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


def test_of_data_that_lie_nowhere_the_obstacle_names_each_address(register, put, root, tmp_path):
    register(File("toy", ("http://127.0.0.1:9/toy",)))
    assert find_obstacle("toy", root, fetch=False).startswith("http://127.0.0.1:9/toy: ")
    register(File("toy", pinned="2026-01", checksum=sha(b"content")))
    assert find_obstacle("toy", root) == "it has no address and lies in no mirror"
    assert not root.exists()
    put("mirror/toys/toy", b"contenT")
    assert "has the checksum" in find_obstacle("toy", root, tmp_path / "mirror")
    put("mirror/toys/toy", b"content")
    assert find_obstacle("toy", root, tmp_path / "mirror") is None and (root / "raw/toys/toy").exists()


@pytest.mark.parametrize("fetch", [False, True])
def test_whether_data_can_be_had_is_known_before_they_are_fetched(register, server, root, fetch):
    register(File("toy", (f"{server.url}/toy",), 7, sha(b"content")))
    assert find_obstacle("toy", root, fetch=fetch).startswith(f"{server.url}/toy: ")
    server.files["/toy"] = b"content"
    assert find_obstacle("toy", root, fetch=fetch) is None and (root / "raw/toys/toy").exists() == fetch


def test_embedded_sets_need_no_files(root):
    assert fetch("digits", root) == [] and not root.exists()


def test_the_next_fetch_sweeps_what_killed_ones_have_left(official, put, root, names_of_raw_files):
    official(b"content")
    for name in (".tmp-000000-1-0123456789ab-toy", "other"):
        os.utime(put(f"data/raw/toys/{name}", b"left"), (0, 0))
    os.utime(put("data/prepared/.tmp-000000-1-0123456789ab-toy", b"left"), (0, 0))
    fetch("toy", root)
    assert names_of_raw_files() == {"toy", "toy.origin", "other"}


def test_names_of_mirrors_may_hold_anything(monkeypatch, tmp_path):
    names = ["/with a space", "/a,b", "https://host:8080/b", "[c]", '"']
    monkeypatch.setenv("FEDATLAS_DATA_MIRRORS", format_mirrors(names))
    assert list_mirrors() == names
    for wrong in ("[", "[" * 100_000):
        monkeypatch.setenv("FEDATLAS_DATA_MIRRORS", wrong)
        with pytest.raises(UserError, match="must be a JSON list"):
            list_mirrors()


def test_the_workflow_hands_mirrors_on_as_they_are_named(monkeypatch):
    monkeypatch.setenv("FEDATLAS_DATA_MIRRORS", "/e /f")
    settings = {"tour": [], "experiments": "all", "data": "~/fa", "mlflow_uri": "sqlite:///results/mlflow.db"}
    study = Study.from_config(settings | {"data_mirrors": ["/with a space", "~/a,b"]})
    for _ in range(2):  # the driver of a cluster and its jobs read the configuration one after the other
        for name, value in study.environment().items():
            monkeypatch.setenv(name, value)
        assert list_mirrors() == ["/with a space", str(Path.home() / "a,b"), "/e", "/f"]
    assert resolve_directory() == Path.home() / "fa"
    assert Graph(study).data_files({"data": "digits"}) == [str(Path.home() / "fa/prepared/digits/meta.json")]


def test_a_home_folder_of_nobody_is_refused():
    with pytest.raises(UserError, match="~nobody_of_this_name"):
        resolve_directory("~nobody_of_this_name/data")
