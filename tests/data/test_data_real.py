"""The real files, where a mirror in FEDATLAS_DATA_MIRRORS holds them."""

import time

import numpy as np
import pytest

from fedatlas.data.prepared import load
from fedatlas.data.sources import info
from fedatlas.data.store import prepare, status, verify

QUICK = ("a9a", "a9a.t", "mushrooms", "phishing", "w8a", "mnist", "fashion-mnist", "ijcnn1")


def _available(name: str, tmp_path) -> bool:
    rows = status(tmp_path / "none")
    return next(row for row in rows if row.name == name).state == "mirror"


@pytest.mark.parametrize("name", QUICK)
def test_a_mirrored_set_is_fetched_prepared_verified_and_loads_at_once(name, tmp_path):
    if not _available(name, tmp_path):
        pytest.skip(f"no folder in FEDATLAS_DATA_MIRRORS holds {name}")
    prepare(name, tmp_path)
    load(name, tmp_path)
    start = time.perf_counter()
    result = load(name, tmp_path)
    assert time.perf_counter() - start < 0.5
    verify(name, tmp_path)
    source = info(name)
    assert result.X.shape == (source.rows, *source.shape) and not result.lossy
    if source.counts:
        assert tuple(np.bincount(result.y)) == source.counts
