"""The real files, where a mirror in FEDATLAS_DATA_MIRRORS holds them."""

import time

import numpy as np
import pytest

from fedatlas.data.dataset import load_prepared
from fedatlas.data.sources import info
from fedatlas.data.store import prepare, status

QUICK = ("a9a", "mushrooms", "phishing", "w8a", "mnist", "fashion-mnist", "ijcnn1")


def _available(name: str, tmp_path) -> bool:
    rows = status(tmp_path / "none")
    return next(row for row in rows if row.name == name).state == "mirror"


@pytest.mark.parametrize("name", QUICK)
def test_a_mirrored_set_is_fetched_prepared_verified_and_loads_at_once(name, tmp_path):
    if not _available(name, tmp_path):
        pytest.skip(f"no folder in FEDATLAS_DATA_MIRRORS holds {name}")
    prepare(name, tmp_path)
    load_prepared(name, tmp_path)
    start = time.perf_counter()
    result = load_prepared(name, tmp_path)
    assert time.perf_counter() - start < 0.5
    source = info(name)
    assert result.X.shape == (source.rows, *source.shape) and not result.provenance["lossy"]
    if source.counts:
        assert tuple(np.bincount(result.y)) == source.counts


@pytest.mark.slow
def test_the_jpeg_stand_in_holds_cifar10_in_the_official_order(tmp_path):
    if not _available("cifar10", tmp_path):
        pytest.skip("no folder in FEDATLAS_DATA_MIRRORS holds cifar10_jpeg.npz")
    prepare("cifar10", tmp_path)
    data = load_prepared("cifar10", tmp_path)
    assert data.provenance["lossy"] and np.bincount(data.y_test).tolist() == [1000] * 10
    assert all(np.ptp(image) > 0 for image in data.X[::500])
    assert data.y[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
