"""Mistakes in the specification of a partition, and partitions in files."""

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation.partitions.partition import Partition

from .splits import BALANCED, partition

# Errors ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, clients, options, complaint",
    [
        ("idd", 2, {}, "unknown partition 'idd'; did you mean 'iid'"),
        ("dirichlet", 2, {"alhpa": 1}, "partition dirichlet has no option 'alhpa'; did you mean 'alpha'"),
        ("iid", 2, {"alpha": 1}, r"no option 'alpha' \(known: seed\)"),
        ("dirichlet", 2, {}, "partition dirichlet needs a value for 'alpha'"),
        ("dirichlet", 2, {"alpha": 0}, "alpha is 0; it must be a number larger than 0"),
        ("dirichlet", 2, {"alpha": -1.0}, "alpha is .*; it must be a number larger than 0"),
        ("dirichlet", 2, {"alpha": float("nan")}, "alpha is .*; it must be a number larger than 0"),
        ("dirichlet", 2, {"alpha": float("inf")}, "alpha is .*; it must be a number larger than 0"),
        ("dirichlet", 2, {"alpha": "small"}, "alpha is 'small'; it must be a number larger than 0"),
        ("dirichlet", 2, {"alpha": True}, "alpha is True; it must be a number larger than 0"),
        ("dirichlet", 2, {"alpha": 1, "min_size": 0}, "min_size is 0; it must be a whole number, at least 1"),
        ("dirichlet", 2, {"alpha": 1, "per_class": "yes"}, "per_class is 'yes'; it must be true or false"),
        ("dirichlet", 2, {"alpha": 1, "symmetric": 1}, "symmetric is 1; it must be true or false"),
        ("dirichlet", 2, {"alpha": 1, "symmetric": True, "per_class": True}, "exclude one another"),
        ("dirichlet", 7, {"alpha": 1}, "6 samples are too few to give each of 7 clients 1: lower clients"),
        ("dirichlet", 3, {"alpha": 1, "min_size": 3}, "6 samples are too few to give each of 3 clients 3"),
        ("iid", 7, {}, "6 samples are too few to give each of 7 clients 1"),
        ("iid", 0, {}, "clients is 0; it must be a whole number, at least 1"),
        ("iid", 2.0, {}, r"clients is 2\.0; it must be a whole number, at least 1"),
        ("iid", True, {}, "clients is True; it must be a whole number, at least 1"),
        ("classes", 2, {"classes": 4}, "4 classes per client were asked for, but the labels have only 3"),
        ("classes", 2, {"classes": 0}, "classes is 0; it must be a whole number, at least 1"),
        ("classes", 5, {}, "6 samples are too few to give each of 5 clients 2"),
    ],
)
def test_mistakes_are_explained(kind, clients, options, complaint):
    with pytest.raises(UserError, match=complaint):
        partition(kind, np.array([0, 1, 2, 0, 1, 2]), clients, 0, **options)


@pytest.mark.parametrize("y", [np.zeros((3, 2), int), np.zeros(3), np.array([], int), np.array(["a", "b"])])
def test_labels_are_a_vector_of_integers(y):
    with pytest.raises(UserError, match="labels must be a non-empty vector of integers"):
        partition("iid", y, 1, 0)


def test_clients_that_do_not_exist_and_other_labels_are_refused():
    result = partition("iid", BALANCED, 5, 0)
    for i in (-1, 5):
        with pytest.raises(UserError, match=f"there is no client {i}"):
            result.client(i)
    with pytest.raises(UserError, match="splits 6,000 samples, not the 3 given"):
        result.histogram(BALANCED[:3], 10)


# Files ----------------------------------------------------------------------------------------------------------------


def test_a_file_that_is_no_partition_is_refused(tmp_path):
    path = tmp_path / "split.npz"
    with pytest.raises(UserError, match=r"split\.npz is not a readable partition .*: make it again"):
        Partition.load(path)
    result = partition("iid", BALANCED, 20, 1)
    result.save(path)
    good = path.read_bytes()
    with np.load(path) as content:
        parts = dict(content)
    for changes in ({"order": parts["order"] * 0}, {"offsets": parts["offsets"][:-1]}, {"order": parts["order"] + 1}):
        np.savez(path, **parts | changes)
        with pytest.raises(UserError, match="is not a readable partition"):
            Partition.load(path)
    np.savez(path, order=parts["order"], offsets=parts["offsets"], meta=np.array([print], dtype=object))
    with pytest.raises(UserError, match="Object arrays cannot be loaded"):
        Partition.load(path)
    path.write_bytes(good[: len(good) // 2])
    with pytest.raises(UserError, match="is not a readable partition"):
        Partition.load(path)
