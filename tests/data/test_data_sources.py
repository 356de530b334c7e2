"""Every entry of the catalogue, those yet to come included."""

import re
from string import hexdigits

import numpy as np
import pytest

from fedatlas import data
from fedatlas.data import readers as formats
from fedatlas.data import sources
from fedatlas.data.sources import File
from fedatlas.errors import UserError

DIGESTS = {"md5": 32, "sha1": 40, "sha256": 64}
SOURCES = [pytest.param(data.info(name), id=name) for name in data.names()]
FILES = [
    pytest.param(file, id=f"{name}/{file.name}")
    for name in data.names()
    for form in data.info(name).forms
    for file in form.files
]


def test_the_data_sets_of_the_experiments_are_there():
    assert set(data.names()) >= {"a9a", "a9a.t", "w8a", "mushrooms", "phishing", "ijcnn1", "epsilon", "mnist"}
    assert set(data.names()) >= {"cifar10", "cifar100", "svhn", "cinic10", "tiny-imagenet", "digits", "breast_cancer"}


@pytest.mark.parametrize("source", SOURCES)
def test_sizes_make_sense(source):
    assert data.info(source.name) is source
    assert source.rows > 0 and source.test_rows >= 0 and source.classes >= 2
    assert all(length > 0 for length in source.shape) and len(source.shape) in (1, 3)
    assert np.dtype(source.dtype) in (np.uint8, np.float32, np.float64)
    assert (source.dtype == "uint8") == (len(source.shape) == 3)
    assert source.scale == 1 or source.dtype == "uint8"
    if source.counts:
        assert len(source.counts) == source.classes and sum(source.counts) == source.rows


@pytest.mark.parametrize("source", SOURCES)
def test_it_can_be_credited(source):
    assert source.title and source.licence and re.match("https?://", source.page)
    assert re.match(r"@\w+\{" + source.citation + ",", source.bibtex)
    assert all(
        f"{field} " in source.bibtex for field in ("author", "title", "year") if "mushroom" not in source.citation
    )


@pytest.mark.parametrize("source", SOURCES)
def test_every_form_has_a_reader_and_only_stand_ins_are_lossy(source):
    for form in source.forms:
        assert callable(formats.reader(form.reader).read)
    assert not source.forms[0].lossy and all(form.lossy for form in source.forms[1:])
    assert source.embedded or all(file.urls for file in source.forms[0].files)


@pytest.mark.parametrize("file", FILES)
def test_files_are_described(file):
    assert "/" not in file.name
    assert file.bytes is None or file.bytes > 0
    for url in file.urls:
        assert re.fullmatch(r"https?://[\w.-]+/\S+", url)
    for known in filter(None, (file.checksum, file.content)):
        algorithm, _, digest = known.partition(":")
        assert len(digest) == DIGESTS[algorithm] and set(digest) <= set(hexdigits.lower())
    assert file.content is None or file.packed


def test_no_citation_lies_idle():
    assert set(sources.bibliography()) == {data.info(name).citation for name in data.names()}


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UserError, match="unknown data set 'mnits'; did you mean 'mnist'"):
        data.info("mnits")
    with pytest.raises(UserError, match="known: a9a, "):
        data.info("zzzzzz")


def test_variants_are_plain_or_compressed_another_way():
    assert File("a9a.t").variants == ("a9a.t", "a9a.t.gz", "a9a.t.bz2", "a9a.t.xz")
    assert File("x.bz2").variants == ("x.bz2", "x", "x.gz", "x.xz")
    assert File("x.tar.gz").variants == ("x.tar.gz",)


def test_the_start_is_fast():
    import subprocess
    import sys

    heavy = "torch pandas sklearn scipy PIL tqdm urllib.request".split()
    code = f"import sys, fedatlas.data; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
