"""The real files, where a mirror in FEDATLAS_DATA_MIRRORS holds them."""

import time

import numpy as np
import pytest

from fedatlas.data.paths import list_mirrors, resolve_directory
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
    made = load(name, tmp_path)
    assert time.perf_counter() - start < 0.5
    verify(name, tmp_path)
    source = info(name)
    assert made.X.shape == (source.rows, *source.shape) and not made.lossy
    if source.counts:
        assert tuple(np.bincount(made.y)) == source.counts


def test_the_jpeg_stand_in_holds_cifar10_in_the_official_order(tmp_path):
    from fedatlas.data import raw_files
    from fedatlas.data.readers import images, jpeg

    source = info("cifar10")
    found = [raw_files.find_files(source, resolve_directory(mirror) / source.group) for mirror in list_mirrors()]
    path = next((paths[0] for form, paths in filter(None, found) if form.lossy), None)
    if path is None:
        pytest.skip("no folder in FEDATLAS_DATA_MIRRORS holds cifar10_jpeg.npz")
    for part, rows in (("train", source.rows), ("test", source.test_rows)):
        stream, offsets, y = jpeg.streams(path, part, rows, source.unpacked_limit)
        assert np.bincount(y).tolist() == [rows // 10] * 10
        for i in range(0, rows, rows // 100):
            image = images.decode(stream[offsets[i] : offsets[i + 1]].tobytes(), source.shape, ("JPEG",))
            assert np.ptp(image) > 0
        if part == "train":
            assert y[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
