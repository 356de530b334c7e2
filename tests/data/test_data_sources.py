"""Every entry of the catalogue, those yet to come included."""

import re
from string import hexdigits

import numpy as np
import pytest

from fedatlas.cli.show import describe
from fedatlas.data.catalogue.base import Form
from fedatlas.data.readers import READERS
from fedatlas.data.readers.base import Reader
from fedatlas.data.sources import info, names
from fedatlas.errors import UserError
from fedatlas.federation.partitions import PARTITIONS
from fedatlas.registry.bibliography import DATA_SETS, PACKAGE_FOLDER, read_file

DIGESTS = {"md5": 32, "sha1": 40, "sha256": 64}
ENTRIES = [pytest.param(info(name), id=name) for name in names()]
FILES = [
    pytest.param(file, id=f"{name}/{file.name}") for name in names() for form in info(name).forms for file in form.files
]


def test_the_data_sets_of_the_experiments_are_there():
    assert set(names()) >= {"a9a", "a9a.t", "w8a", "mushrooms", "phishing", "ijcnn1", "epsilon", "mnist"}
    assert set(names()) >= {"cifar10", "cifar100", "svhn", "cinic10", "tiny-imagenet", "digits", "breast_cancer"}


@pytest.mark.parametrize("source", ENTRIES)
def test_sizes_make_sense(source):
    assert info(source.name) is source
    assert source.rows > 0 and source.test_rows >= 0 and source.classes >= 2
    assert all(length > 0 for length in source.shape) and len(source.shape) in (1, 3)
    assert np.dtype(source.dtype) in (np.uint8, np.float32, np.float64)
    assert (source.dtype == "uint8") == (len(source.shape) == 3)
    assert source.scale == 1 or source.dtype == "uint8"
    if source.counts:
        assert len(source.counts) == source.classes and sum(source.counts) == source.rows


@pytest.mark.parametrize("source", ENTRIES)
def test_it_can_be_credited(source):
    assert source.title and source.licence and re.match("https?://", source.page)
    assert re.match(r"@\w+\{" + source.citation + ",", source.bibtex)
    assert all(
        f"{field} " in source.bibtex for field in ("author", "title", "year") if "mushroom" not in source.citation
    )


@pytest.mark.parametrize("source", ENTRIES)
def test_every_form_has_a_reader_and_only_stand_ins_are_lossy(source):
    for form in source.forms:
        assert isinstance(form.create_reader(), Reader)
    assert not source.forms[0].lossy and all(form.lossy for form in source.forms[1:])


@pytest.mark.parametrize("file", FILES)
def test_files_are_described(file):
    assert "/" not in file.name
    assert file.bytes is None or file.bytes > 0
    for url in file.urls:
        assert re.fullmatch(r"https?://[\w.-]+/\S+", url)
    if file.checksum:
        algorithm, _, digest = file.checksum.partition(":")
        assert len(digest) == DIGESTS[algorithm] and set(digest) <= set(hexdigits.lower())


def test_no_citation_lies_idle():
    assert set(read_file(PACKAGE_FOLDER / DATA_SETS, DATA_SETS)) == {info(name).citation for name in names()}


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UserError, match="unknown data set 'mnits'; did you mean 'mnist'"):
        info("mnits")
    with pytest.raises(UserError, match="known: a9a, "):
        info("zzzzzz")


def test_readers_are_found_by_existing():
    assert {"cifar", "embedded", "folders", "idx", "jpeg", "libsvm", "mat"} <= set(READERS.names())
    assert READERS.get("mat").__module__ == "fedatlas.data.readers.published_images"


@pytest.mark.parametrize("family", [READERS, PARTITIONS], ids=lambda family: family.noun)
def test_every_kind_and_every_option_is_documented(family):
    for name in family.names():
        kind = family.get(name)
        assert kind.summary().endswith(".")
        for option in kind.options().values():
            assert option.doc and option.expected


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
def test_a_form_that_cannot_be_read_is_refused_where_it_is_declared(reader, options, complaint):
    with pytest.raises(UserError, match=complaint):
        Form(reader, (), options)


@pytest.mark.parametrize("source", ENTRIES)
def test_show_tells_what_files_are_compared_with(source):
    output = re.sub(r"\s+", " ", describe(source.name))
    for file in (file for form in source.forms for file in form.files):
        assert f"{file.name}: {file.checksum or 'no checksum is known'}" in output
        assert (f"taken by this project in {file.pinned}" in output) or not file.pinned
