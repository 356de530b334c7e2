"""Every entry of the catalogue; a fresh copy prepares the bundled ones with neither mirror nor network."""

import re
import socket

import pytest

from fedatlas.cli.show import describe
from fedatlas.data.catalogue import SOURCES
from fedatlas.data.dataset import load_prepared
from fedatlas.data.paths import BUNDLED
from fedatlas.data.readers import READERS
from fedatlas.data.sources import info
from fedatlas.data.store import prepare, status
from fedatlas.errors import UserError

ENTRIES = [pytest.param(SOURCES.get(name), id=name) for name in SOURCES.names()]


@pytest.mark.parametrize(
    "reader, options, complaint",
    [
        ("libsvn", {}, "unknown reader 'libsvn'; did you mean 'libsvm'"),
        ("libsvm", {}, "reader libsvm needs a value for 'labels'"),
        ("libsvm", {"labels": ("-1", "1")}, "labels is .*; it must be a list, of which each entry is a number"),
        ("cifar", {"trian": ()}, "reader cifar has no option 'trian'; did you mean 'train'"),
        ("embedded", {"bundle": "iris"}, "bundle is 'iris'; it must be one of 'breast_cancer', 'digits'"),
    ],
)
def test_a_wrong_reader_is_refused(reader, options, complaint):
    with pytest.raises(UserError, match=complaint):
        READERS.build({"kind": reader, **options})


@pytest.mark.parametrize("source", ENTRIES)
def test_show_tells_what_files_are_compared_with(source):
    output = re.sub(r"\s+", " ", describe(source.name))
    for file in (file for form in source.forms for file in form.files):
        assert f"{file.name}: {file.checksum or 'no checksum is known'}" in output


FILES = sorted(path for path in BUNDLED.rglob("*") if path.is_file() and path.suffix != ".md")


@pytest.fixture
def offline(monkeypatch):
    """Fail the test at the first connection."""

    def refuse(*unused, **options):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(BUNDLED)))
def test_a_bundled_file_is_the_one_of_the_catalogue_and_names_its_source(path):
    files = {
        (source.group, file.name): (source, file)
        for source in map(SOURCES.get, SOURCES.names())
        for form in source.forms
        for file in form.files
    }
    _, file = files[path.parent.name, path.name]
    assert file.checksum.startswith("sha256:") and file.find_mismatch(path) is None
    assert (path.parent / "SOURCE.md").read_text().startswith(f"# {path.name}\n")


def test_shakespeare_is_prepared_without_mirror_and_network(root, offline):
    prepare("shakespeare", root)
    data = load_prepared("shakespeare", root)
    (file,) = data.provenance["files"]
    assert f"sha256:{file['sha256']}" == info("shakespeare").forms[0].files[0].checksum
    assert next(row.state for row in status(root) if row.name == "shakespeare") == "prepared"
