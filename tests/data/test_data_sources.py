"""Every entry of the catalogue, those yet to come included."""

import re

import pytest

from fedatlas.cli.show import describe
from fedatlas.data.catalogue import SOURCES
from fedatlas.data.readers import READERS
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
