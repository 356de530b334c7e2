import hashlib

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fedatlas.errors import UserError
from fedatlas.federation.partitions import dirichlet, is_split, module, split

from .splits import BALANCED, SPLITS, partition

labels = st.integers(1, 6).flatmap(lambda k: arrays(np.int64, st.integers(1, 150), elements=st.integers(0, k - 1)))


@given(labels, st.integers(1, 12), st.integers(0, 2**40), st.sampled_from(SPLITS))
@settings(deadline=None, max_examples=100)
def test_a_split_gives_every_sample_to_at_most_one_client(y, clients, seed, how):
    kind, options = how
    try:
        result = partition(kind, y, clients, seed, **options)
    except UserError:
        assume(kind not in ("iid",) or len(y) < clients)
        return
    order, offsets = result.order, result.offsets
    assert result.sizes.sum() == len(order)
    assert order.dtype == offsets.dtype == np.int64
    parts = [result.client(i) for i in range(clients)]
    assert [len(part) for part in parts] == result.sizes.tolist() and result.sizes.min() >= 1
    assert all(part.base is order for part in parts)
    used = np.concatenate(parts)
    assert len(set(used.tolist())) == len(used) and set(used.tolist()) <= set(range(len(y)))
    if kind != "classes":
        assert len(used) == len(y)
    if kind in ("iid", "classes") or not options.get("per_class"):
        assert np.ptp(result.sizes) <= (kind != "classes")
    table = result.histogram(y, 6)
    assert table.shape == (clients, 6) and (table.sum(axis=1) == result.sizes).all()
    np.testing.assert_array_equal(table.sum(axis=0), np.bincount(y[used], minlength=6))
    if kind == "classes":
        assert ((table > 0).sum(axis=1) == 2).all() and len(set(table[table > 0].tolist())) == 1


@pytest.mark.parametrize("kind, options", SPLITS)
def test_the_seed_decides(kind, options):
    first, same, other = (partition(kind, BALANCED, 20, seed, **options) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.order, same.order)
    np.testing.assert_array_equal(first.offsets, same.offsets)
    assert not np.array_equal(first.order, other.order)


@pytest.mark.parametrize("spec, complaint", [({"seed": 1}, "has no kind"), (3, "it must be a kind, or a mapping")])
def test_a_specification_names_a_kind(spec, complaint):
    with pytest.raises(UserError, match=complaint):
        split(spec, BALANCED, 2)
    with pytest.raises(UserError, match=complaint):
        is_split(spec)


@pytest.mark.parametrize(
    "kind, options, digest",
    [
        ("iid", {}, "e2653360cacaf261"),
        ("dirichlet", {"alpha": 0.3}, "3540d3ce42ade6e9"),
        ("dirichlet", {"alpha": 0.5, "per_class": True}, "b67d5b83d3ae6315"),
        ("classes", {}, "2840ed52695427e0"),
    ],
)
def test_splits_never_change(kind, options, digest):
    result = partition(kind, BALANCED, 20, 3, **options)
    content = result.order.astype("<i8").tobytes() + result.offsets.astype("<i8").tobytes()
    assert hashlib.sha256(content).hexdigest()[:16] == digest


def test_the_shuffle_never_changes():
    assert partition("iid", np.zeros(12, int), 3, 0).order.tolist() == [6, 1, 11, 9, 3, 4, 5, 8, 2, 7, 0, 10]


def test_labels_are_not_changed():
    y = BALANCED.copy()
    for kind, options in SPLITS:
        partition(kind, y, 7, 0, **options)
    np.testing.assert_array_equal(y, BALANCED)


@pytest.mark.parametrize("spec", [None, "shared", {"kind": "shared", "seed": 3}])
def test_shared_data_are_not_split_however_many_clients_there_are(spec):
    assert split(spec, np.array([0, 1, 1]), 100_000) is None and not is_split(spec)


@pytest.mark.parametrize("kind", ["iid", "dirichlet", "classes"])
def test_all_other_kinds_split(kind):
    assert is_split(kind) and is_split({"kind": kind})
    assert module(kind) == module({"kind": kind}) == f"fedatlas.federation.partitions.{kind}"


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


def test_per_class_caps_who_holds_enough_and_sizes_differ():
    for seed in range(10):
        result = partition("dirichlet", BALANCED, 4, seed, alpha=0.1, per_class=True)
        assert np.ptp(result.sizes) > 50
        # Who holds n / clients takes part in no later class, so nobody gets more than that and one class.
        assert result.sizes.max() < 6000 / 4 + 600


def test_min_size_is_kept_or_its_impossibility_said(monkeypatch):
    for seed in range(5):
        result = partition("dirichlet", BALANCED, 20, seed, alpha=0.2, per_class=True, min_size=60)
        assert result.sizes.min() >= 60
    monkeypatch.setattr(dirichlet, "_TRIES", 20)
    with pytest.raises(UserError, match="some of 500 clients always had fewer than 11 of 6,000 samples: raise alpha"):
        partition("dirichlet", BALANCED, 500, 0, alpha=0.01, per_class=True, min_size=11)


@pytest.mark.parametrize("alpha", [1e-300, 5e-324, 1e-12, 1e12, 1e300])
@pytest.mark.parametrize("per_class", [False, True])
def test_extreme_alphas_work_or_say_why_not(alpha, per_class):
    try:
        result = partition("dirichlet", BALANCED, 5, 0, alpha=alpha, per_class=per_class)
    except UserError as error:
        assert per_class and alpha < 1 and "raise alpha" in str(error)
    else:
        assert result.sizes.sum() == 6000


@pytest.mark.parametrize("clients, classes", [(100, 2), (10, 2), (5, 2), (4, 1), (30, 9), (7, 10), (1, 10), (1, 1)])
def test_every_client_has_exactly_so_many_classes(clients, classes):
    y = np.repeat(np.arange(10), np.arange(500, 700, 20))
    result = partition("classes", y, clients, 0, classes=classes)
    table = result.histogram(y, 10)
    assert ((table > 0).sum(axis=1) == classes).all() and np.ptp(result.sizes) == 0
    assert len(set(table[table > 0].tolist())) == 1
    if clients * classes >= 10:
        assert (table.sum(axis=0) > 0).all()
