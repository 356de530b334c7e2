import hashlib

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fedatlas.data.partition import Partition
from fedatlas.errors import UserError
from fedatlas.partitions import PARTITIONS, dirichlet, is_split, module, split

BALANCED = np.repeat(np.arange(10), 600)
SPLITS = [
    ("iid", {}),
    ("dirichlet", {"alpha": 0.3}),
    ("dirichlet", {"alpha": 1e-3}),
    ("dirichlet", {"alpha": 0.1, "symmetric": True}),
    ("dirichlet", {"alpha": 0.5, "per_class": True}),
    ("classes", {"classes": 2}),
]


def partition(kind, y, clients, seed=0, **options):
    """A split by a kind and its options."""
    return split({"kind": kind, "seed": seed, **options}, y, clients)


labels = st.integers(1, 6).flatmap(lambda k: arrays(np.int64, st.integers(1, 150), elements=st.integers(0, k - 1)))


def test_the_kinds():
    assert PARTITIONS.names() == ["classes", "dirichlet", "iid", "shared"]


@given(labels, st.integers(1, 12), st.integers(0, 2**40), st.sampled_from(SPLITS))
@settings(deadline=None, max_examples=200)
def test_a_split_gives_every_sample_to_at_most_one_client(y, clients, seed, how):
    kind, options = how
    try:
        made = partition(kind, y, clients, seed, **options)
    except UserError:
        assume(kind not in ("iid",) or len(y) < clients)
        return
    order, offsets = made.order, made.offsets
    assert made.sizes.sum() == len(order)
    assert order.dtype == offsets.dtype == np.int64
    parts = [made.client(i) for i in range(clients)]
    assert [len(part) for part in parts] == made.sizes.tolist() and made.sizes.min() >= 1
    assert all(part.base is order for part in parts)
    used = np.concatenate(parts)
    assert len(set(used.tolist())) == len(used) and set(used.tolist()) <= set(range(len(y)))
    if kind != "classes":
        assert len(used) == len(y)
    if kind in ("iid", "classes") or not options.get("per_class"):
        assert np.ptp(made.sizes) <= (kind != "classes")
    table = made.histogram(y, 6)
    assert table.shape == (clients, 6) and (table.sum(axis=1) == made.sizes).all()
    np.testing.assert_array_equal(table.sum(axis=0), np.bincount(y[used], minlength=6))
    if kind == "classes":
        assert ((table > 0).sum(axis=1) == 2).all() and len(set(table[table > 0].tolist())) == 1


@pytest.mark.parametrize("kind, options", SPLITS)
def test_the_seed_decides(kind, options):
    one, same, other = (partition(kind, BALANCED, 20, seed, **options) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.order, same.order)
    np.testing.assert_array_equal(one.offsets, same.offsets)
    assert not np.array_equal(one.order, other.order)


@given(labels, st.integers(1, 12), st.integers(0, 2**40), st.sampled_from(SPLITS))
@settings(deadline=None, max_examples=60)
def test_the_same_arguments_give_the_same_split(y, clients, seed, how):
    kind, options = how
    try:
        one = partition(kind, y, clients, seed, **options)
    except UserError as error:
        with pytest.raises(UserError) as again:
            partition(kind, y, clients, seed, **options)
        assert str(again.value) == str(error)
        return
    same = partition(kind, y.copy(), clients, seed, **options)
    np.testing.assert_array_equal(one.order, same.order)
    np.testing.assert_array_equal(one.offsets, same.offsets)


def test_a_name_alone_is_a_specification_and_seed_0_is_the_default():
    np.testing.assert_array_equal(split("iid", BALANCED, 3).order, partition("iid", BALANCED, 3, 0).order)


@pytest.mark.parametrize("spec, complaint", [({"seed": 1}, "has no kind"), (3, "it must be a kind, or a mapping")])
def test_a_specification_names_a_kind(spec, complaint):
    with pytest.raises(UserError, match=complaint):
        split(spec, BALANCED, 2)
    with pytest.raises(UserError, match=complaint):
        is_split(spec)


@pytest.mark.parametrize(
    "kind, options, digest",
    [
        ("iid", {}, "cd558c2a72be0143"),
        ("dirichlet", {"alpha": 0.3}, "0f1858b8adc86bc8"),
        ("dirichlet", {"alpha": 0.5, "per_class": True}, "088a9e9aefe901aa"),
        ("classes", {}, "5db0ed43c738c469"),
    ],
)
def test_stored_splits_never_change(tmp_path, kind, options, digest):
    path = tmp_path / "split.npz"
    partition(kind, BALANCED, 20, 3, **options).save(path)
    assert hashlib.sha256(path.read_bytes()).hexdigest()[:16] == digest


def test_the_shuffle_never_changes():
    assert partition("iid", np.zeros(12, int), 3, 0).order.tolist() == [6, 1, 11, 9, 3, 4, 5, 8, 2, 7, 0, 10]


def test_labels_are_not_changed():
    y = BALANCED.copy()
    for kind, options in SPLITS:
        partition(kind, y, 7, 0, **options)
    np.testing.assert_array_equal(y, BALANCED)


# Shared ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [None, "shared", {"kind": "shared", "seed": 3}])
def test_shared_data_are_not_split_however_many_clients_there_are(spec):
    assert split(spec, np.array([0, 1, 1]), 100_000) is None and not is_split(spec)


@pytest.mark.parametrize("kind", ["iid", "dirichlet", "classes"])
def test_all_other_kinds_split(kind):
    assert is_split(kind) and is_split({"kind": kind})
    assert module(kind) == module({"kind": kind}) == f"fedatlas.partitions.{kind}"


# Dirichlet ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("per_class", [False, True])
def test_a_large_alpha_approaches_the_class_frequencies(per_class):
    y = np.repeat([0, 1, 2], [3000, 2000, 1000])
    table = partition("dirichlet", y, 10, 0, alpha=1e6, per_class=per_class).histogram(y, 3)
    np.testing.assert_allclose(table / table.sum(axis=1, keepdims=True), [[1 / 2, 1 / 3, 1 / 6]] * 10, atol=0.06)


@pytest.mark.parametrize("per_class", [False, True])
def test_a_small_alpha_leaves_few_classes_to_a_client(per_class):
    table = partition("dirichlet", BALANCED, 10, 0, alpha=1e-2, per_class=per_class).histogram(BALANCED, 10)
    assert (table.max(axis=1) / table.sum(axis=1)).mean() > 0.7


@pytest.mark.parametrize("symmetric", [False, True])
def test_proportions_vary_as_dirichlet_of_alpha_times_the_prior(symmetric):
    sizes = [20_000, 20_000] if symmetric else [30_000, 10_000]
    alpha, n, p = 3.0, 100, sizes[1] / 40_000
    y = np.repeat([0, 1], sizes)
    share = partition("dirichlet", y, 400, 1, alpha=alpha, symmetric=symmetric).histogram(y, 2)[:, 1] / n
    # Variance of a Dirichlet-multinomial share of mean p, whose concentration is alpha, or alpha per class.
    total = 2 * alpha if symmetric else alpha
    expected = p * (1 - p) * (n + total) / (n * (1 + total))
    assert share.mean() == pytest.approx(p) and share.var() == pytest.approx(expected, rel=0.15)


def test_no_client_is_served_last():
    y = np.repeat(np.arange(10), 500)
    sums = np.zeros(50)
    for seed in range(30):
        table = partition("dirichlet", y, 50, seed, alpha=0.1).histogram(y, 10)
        sums += table.max(axis=1) / 100
    assert abs(np.corrcoef(np.arange(50), sums)[0, 1]) < 0.35


def test_per_class_caps_who_holds_enough_and_sizes_differ():
    for seed in range(10):
        made = partition("dirichlet", BALANCED, 4, seed, alpha=0.1, per_class=True)
        assert np.ptp(made.sizes) > 50
        # Who holds n / clients takes part in no later class, so nobody gets more than that and one class.
        assert made.sizes.max() < 6000 / 4 + 600


def test_min_size_is_kept_or_its_impossibility_said(monkeypatch):
    for seed in range(5):
        made = partition("dirichlet", BALANCED, 20, seed, alpha=0.2, per_class=True, min_size=60)
        assert made.sizes.min() >= 60
    monkeypatch.setattr(dirichlet, "_TRIES", 20)
    with pytest.raises(UserError, match="some of 500 clients always had fewer than 11 of 6,000 samples: raise alpha"):
        partition("dirichlet", BALANCED, 500, 0, alpha=0.01, per_class=True, min_size=11)


@pytest.mark.parametrize("alpha", [1e-300, 5e-324, 1e-12, 1e12, 1e300])
@pytest.mark.parametrize("per_class", [False, True])
def test_extreme_alphas_work_or_say_why_not(alpha, per_class):
    try:
        made = partition("dirichlet", BALANCED, 5, 0, alpha=alpha, per_class=per_class)
    except UserError as error:
        assert per_class and alpha < 1 and "raise alpha" in str(error)
    else:
        assert made.sizes.sum() == 6000


# Classes --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clients, classes", [(100, 2), (10, 2), (5, 2), (4, 1), (30, 9), (7, 10), (1, 10), (1, 1)])
def test_every_client_has_exactly_so_many_classes(clients, classes):
    y = np.repeat(np.arange(10), np.arange(500, 700, 20))
    made = partition("classes", y, clients, 0, classes=classes)
    table = made.histogram(y, 10)
    assert ((table > 0).sum(axis=1) == classes).all() and np.ptp(made.sizes) == 0
    assert len(set(table[table > 0].tolist())) == 1
    if clients * classes >= 10:
        assert (table.sum(axis=0) > 0).all()


def test_a_rare_class_is_not_left_out():
    y = np.repeat([0, 1], [1000, 10])
    assert (partition("classes", y, 10, 0, classes=1).histogram(y, 2).sum(axis=0) > 0).all()


def test_most_samples_are_used():
    y = np.repeat(np.arange(10), [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949])
    assert partition("classes", y, 100, 0).sizes.sum() > 0.95 * len(y)


def test_pairs_of_classes_are_mixed():
    table = partition("classes", BALANCED, 100, 0).histogram(BALANCED, 10)
    assert len({tuple(np.flatnonzero(row)) for row in table}) > 30


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


@pytest.mark.parametrize("seed", [-1, 0.5, None, "0", True])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(UserError, match=r"seed is .*; it must be a whole number, at least 0"):
        partition("iid", BALANCED, 2, seed)


@pytest.mark.parametrize("y", [np.zeros((3, 2), int), np.zeros(3), np.array([], int), np.array(["a", "b"])])
def test_labels_are_a_vector_of_integers(y):
    with pytest.raises(UserError, match="labels must be a non-empty vector of integers"):
        partition("iid", y, 1, 0)


def test_clients_that_do_not_exist_and_other_labels_are_refused():
    made = partition("iid", BALANCED, 5, 0)
    for i in (-1, 5):
        with pytest.raises(UserError, match=f"there is no client {i}"):
            made.client(i)
    with pytest.raises(UserError, match="splits 6,000 samples, not the 3 given"):
        made.histogram(BALANCED[:3], 10)


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind, options", [*SPLITS, ("dirichlet", {"alpha": np.float32(0.5)})])
def test_a_partition_survives_its_file(tmp_path, kind, options):
    made = partition(kind, BALANCED, 20, 1, **options)
    path = tmp_path / "deep" / "split.npz"
    made.save(path)
    first = path.read_bytes()
    read = Partition.load(path)
    assert (read.kind, read.seed, read.options, read.clients) == (made.kind, 1, made.options, 20)
    np.testing.assert_array_equal(read.histogram(BALANCED, 10), made.histogram(BALANCED, 10))
    for i in (0, 19):
        np.testing.assert_array_equal(read.client(i), made.client(i))
    read.save(path)
    assert path.read_bytes() == first and [file.name for file in path.parent.iterdir()] == ["split.npz"]


def test_a_file_that_is_no_partition_is_refused(tmp_path):
    path = tmp_path / "split.npz"
    with pytest.raises(UserError, match=r"split\.npz is not a readable partition .*: make it again"):
        Partition.load(path)
    made = partition("iid", BALANCED, 20, 1)
    made.save(path)
    good = path.read_bytes()
    with np.load(path) as content:
        parts = dict(content)
    for changes in ({"order": parts["order"] * 0}, {"offsets": parts["offsets"][:-1]}, {"order": parts["order"] + 1}):
        np.savez(path, **parts | changes)
        with pytest.raises(UserError, match="is not a readable partition"):
            Partition.load(path)
    np.savez(path, order=parts["order"], offsets=parts["offsets"], meta=np.array([print], dtype=object))
    with pytest.raises(UserError, match="allow_pickle"):
        Partition.load(path)
    path.write_bytes(good[: len(good) // 2])
    with pytest.raises(UserError, match="is not a readable partition"):
        Partition.load(path)
