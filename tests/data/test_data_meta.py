"""The description of prepared data is checked whole when it is read."""

import json

import pytest

from fedatlas.data import prepared
from fedatlas.data.prepared import load
from fedatlas.data.store import prepare
from fedatlas.errors import UserError


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record.pop("lossy"),
        lambda record: record.update(more=1),
        lambda record: record.update(rows="2"),
        lambda record: record.update(rows=True),
        lambda record: record.update(title="\ud800"),
        lambda record: record.update(shape=[2.0]),
        lambda record: record.update(files=[{"name": "toy"}]),
    ],
)
def test_provenance_of_another_form_is_no_whole_form(register, put, root, toy_text, change):
    put("data/raw/toys/toy", toy_text)
    register()
    meta = prepare("toy", root) / "meta.json"
    plain = json.loads(meta.read_text())
    change(plain["provenance"])
    meta.write_text(json.dumps(plain))
    assert prepared.read_meta(meta.parent) is None
    with pytest.raises(UserError, match="is not prepared, or not whole"):
        load("toy", root)
