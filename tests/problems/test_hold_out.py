"""Training rows that are held out: whose they are, that they train nothing, and what is measured on them."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from fedatlas import UserError
from fedatlas.api.train import train
from fedatlas.data.dataset import Dataset
from fedatlas.federation import partitions, problems
from fedatlas.federation.problems.rows import hold_out

ROWS, CLIENTS = 97, 6


KINDS = {
    "logistic": {"kind": "logistic", "l2": 0.1},
    "softmax": {"kind": "softmax", "l2": 0.1},
    "network": {"kind": "network", "architecture": "linear", "dtype": "float64", "eval_samples": "all"},
}


def data(rows=ROWS, X=None):
    """A data set whose first feature is the number of the row."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=rows)
    X = np.column_stack([np.arange(rows), rng.standard_normal((rows, 3))]) if X is None else X
    return Dataset("made", X, y, X[:5], y[:5], 2, {})


@pytest.mark.parametrize("share", [0.1, 0.25, 0.9, 0.999])
@pytest.mark.parametrize("how", [{"kind": "iid"}, {"kind": "dirichlet", "alpha": 0.2}, None])
def test_each_client_holds_out_its_share(how, share):
    dataset = data()
    split = None if how is None else partitions.split(how, dataset.y, CLIENTS)
    remaining, partition, parts = hold_out(dataset, split, {"validation": share})
    training_rows, validation_rows = remaining.X[:, 0].astype(int), remaining.X_validation[:, 0].astype(int)
    assert sorted([*training_rows, *validation_rows]) == list(range(ROWS))
    assert not {*training_rows} & {*validation_rows}
    assert (remaining.y == dataset.y[training_rows]).all() and (
        remaining.y_validation == dataset.y[validation_rows]
    ).all()
    owners = [np.arange(ROWS)] if split is None else [split.client(i) for i in range(CLIENTS)]
    for owner, rows in enumerate(owners):
        client_rows = training_rows if partition is None else training_rows[partition.client(owner)]
        assert len(rows) - len(client_rows) == max(0, min(int(share * len(rows) + 1e-9), len(rows) - 1))
        assert client_rows.tolist() == [row for row in rows if row not in validation_rows], (
            "the order of a client's rows stays"
        )
    if partition is not None:
        partition._validate()
        assert partition.samples == len(training_rows) and partition.clients == CLIENTS
        parts["validation"]._validate()
        for owner, rows in enumerate(owners):
            assert validation_rows[parts["validation"].client(owner)].tolist() == [
                row for row in rows if row in validation_rows
            ]
    again = hold_out(dataset, split, {"validation": share})[0]
    assert (again.X_validation == remaining.X_validation).all()


def test_a_share_of_nothing_changes_nothing():
    dataset = data()
    assert hold_out(dataset, None, {"test": 0, "validation": 0}) == (dataset, None, {})
    with pytest.raises(UserError, match="less than one row"):
        hold_out(data(rows=5), None, {"validation": 0.1})


def test_a_client_of_one_row_keeps_it():
    dataset = data(rows=4)
    split = dataclasses.replace(
        partitions.split({"kind": "iid"}, dataset.y, 2), order=np.array([3, 0, 1, 2]), offsets=np.array([0, 1, 4])
    )
    remaining, partition, _ = hold_out(dataset, split, {"validation": 0.9})
    assert partition.sizes.tolist() == [1, 1] and remaining.X[partition.client(0), 0].tolist() == [3]


def test_sparse_rows_are_held_out():
    dense = data().X
    parts = [hold_out(data(X=X), None, {"validation": 0.2})[0].X_validation for X in (sparse.csr_matrix(dense), None)]
    assert sorted(parts[0].toarray()[:, 0]) == sorted(parts[1][:, 0])


@pytest.mark.parametrize("name", KINDS)
def test_rows_that_are_held_out_train_nothing_and_are_measured(name):
    """Whatever the held-out rows hold, all that trains is the same; the metrics are those of a test on these rows."""
    spec = KINDS[name]
    kind = problems.parse({**spec, "data": "breast_cancer"})[0]
    dataset = data(X=np.random.default_rng(1).standard_normal((ROWS, 4)))
    split = partitions.split({"kind": "iid"}, dataset.y, CLIENTS)
    remaining, partition, _ = hold_out(dataset, split, {"validation": 0.3})
    other = dataclasses.replace(remaining, X_validation=remaining.X_validation + 7)
    same, moved = (kind.build(source, None, partition) for source in (remaining, other))
    ids = np.arange(CLIENTS)
    x = same.start(3) + 0.1
    index = np.stack([partition.client(i)[:3] for i in ids])
    assert (same.batch(ids, index).grad(x) == moved.batch(ids, index).grad(x)).all()
    assert (same.full_batch(ids).grad(x) == moved.full_batch(ids).grad(x)).all()
    assert same.samples == len(remaining.y) == moved.samples
    metrics, shifted_metrics = same.evaluate(x), moved.evaluate(x)
    assert (
        metrics["loss"] == shifted_metrics["loss"] and metrics["validation_loss"] != shifted_metrics["validation_loss"]
    )
    tested = dataclasses.replace(remaining, X_test=remaining.X_validation, y_test=remaining.y_validation)
    twin = kind.build(dataclasses.replace(tested, X_validation=None, y_validation=None), None, partition).evaluate(x)
    assert metrics["validation_accuracy"] == twin["test_accuracy"] and "validation_loss" not in twin
    if "test_loss" in twin:
        assert metrics["validation_loss"] == twin["test_loss"]
    assert (same.full_batch(ids).grad(x) == kind.build(tested, None, partition).full_batch(ids).grad(x)).all()


@pytest.mark.parametrize("name", KINDS)
def test_validation_reaches_a_run(name, tmp_path, monkeypatch):
    monkeypatch.setenv("FEDATLAS_DATA", str(tmp_path))
    problem = {**KINDS[name], "data": "breast_cancer", "partition": "iid"}
    options = {"clients": 4, "rounds": 2, "batch": 3, "lr": 0.1, "optimum": False}
    plain, none = (
        train("fedavg", {**problem, **options_of_problem}, **options) for options_of_problem in ({}, {"validation": 0})
    )
    assert plain.drop(columns="seconds").equals(none.drop(columns="seconds"))
    validation_rows = train("fedavg", {**problem, "validation": 0.2}, **options)
    cls = problems.parse({**problem, "validation": 0.2})[0]
    assert set(validation_rows) - set(plain) == {"validation_loss", "validation_accuracy"}
    assert {"validation_loss", "validation_accuracy"} <= {*cls.metric_names(False, ["test_", "validation_"])}
    assert not any(metric.startswith("validation") for metric in cls.metric_names(False, ["test_"]))
