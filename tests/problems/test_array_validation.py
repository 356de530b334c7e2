"""Problems of plain arrays: what is taken, and what is refused."""

import numpy as np
import pytest
from scipy import sparse
from torch import nn

import fedatlas
from fedatlas import Logistic, Network, Quadratic, Softmax, UserError
from fedatlas.federation.networks.samples import Samples

X = np.random.default_rng(0).standard_normal((12, 3))


Y = np.arange(12) % 3


B = np.arange(12) % 2


ROWS = [np.arange(0, 5), [5, 7, 6], (8, 9, 10, 11)]


NAN = np.where(np.arange(36).reshape(12, 3) == 13, np.nan, X)


MAKERS = {
    "logistic": lambda **options: Logistic(X, B, 0.1, **options),
    "softmax": lambda **options: Softmax(X, Y, l2=0.1, **options),
    "network": lambda **options: Network((X, Y), lambda: nn.Linear(3, 3), **options),
}


@pytest.mark.parametrize("name", MAKERS)
def test_rows_of_each_client(name):
    problem = MAKERS[name](partition=ROWS)
    assert [problem.partition.client(i).tolist() for i in range(3)] == [[0, 1, 2, 3, 4], [5, 7, 6], [8, 9, 10, 11]]
    frame = fedatlas.train("fedavg", problem, rounds=3, batch=2, lr=0.1)
    assert frame.attrs["spec"]["setting"]["clients"] == 3 and np.isfinite(frame["loss"]).all()
    with pytest.raises(UserError, match="split over 3 clients, but the setting has 4"):
        fedatlas.train("fedavg", problem, clients=4, rounds=3, lr=0.1)


@pytest.mark.parametrize(
    "partition, message",
    [
        ([[0, 1], [1]], "row 1 is given twice; a row belongs to one client"),
        ([[0], [12]], "client 1 has a row that does not exist; rows are 0 to 11"),
        ([[0], [-1]], "client 1 has a row that does not exist"),
        ([[0], []], r"client 1 has \[\]; it must have a list of row numbers"),
        ([[0], [0.5]], r"client 1 has \[0.5\]"),
        ([[True, False]], "client 0 has"),
        ([[[0]]], "client 0 has"),
        ([], r"partition is \[\]; it must be a Partition, or a list"),
        ("iid", "partition is 'iid'; it must be a Partition, or a list"),
        (5, "partition is 5"),
        (
            fedatlas.federation.partitions.split("iid", np.zeros(9, int), 3),
            "the partition splits 9 rows, and the data have 12",
        ),
    ],
)
def test_what_is_no_partition(partition, message):
    with pytest.raises(UserError, match=message):
        MAKERS["softmax"](partition=partition)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Logistic(NAN, B), "row 4 has a feature that is NaN or infinite"),
        (lambda: Logistic(sparse.csr_array(NAN), B), "row 4 has a feature that is NaN or infinite"),
        (lambda: Network((NAN, Y), lambda: nn.Linear(3, 3)), "row 4 has a feature that is NaN or infinite"),
        (lambda: Softmax(X, Y, test=(NAN, Y)), "row 4 has a feature that is NaN or infinite"),
        (lambda: Softmax(X, np.zeros(12)), "all labels are 0: a classifier needs two classes"),
        (lambda: Softmax(X, Y, test=5), "data are 5; they must be a pair"),
        (lambda: Network(X, lambda: nn.Linear(3, 3)), "they must be a pair"),
        (lambda: Network((X, Y), 5), "build is 5; it must be a function that returns a torch module"),
        (lambda: Network((X, Y), lambda: 3), "build returned 3; it must return a torch module"),
    ],
)
def test_what_makes_no_problem(make, message):
    with pytest.raises(UserError, match=message):
        make()


@pytest.mark.parametrize("name", ["Logistic", "Softmax", "Network"])
@pytest.mark.parametrize(
    "table, labels, message",
    [
        (X[0], B, "shape"),
        ([["a", "b"]] * 12, B, "type"),
        (X, B[:5], r"there are 12 rows, and labels of shape \(5,\)"),
        (X, ["ham", "spam"] * 6, "whole numbers from 0, and not such as .*'ham'.*return_inverse"),
        (X, B + 0.5, "whole numbers from 0"),
        (X, B - 1, "labels lie between -1 and 0"),
    ],
)
def test_arrays_that_do_not_fit(name, table, labels, message):
    with pytest.raises(UserError, match=message):
        Network((table, labels), lambda: nn.Linear(3, 3)) if name == "Network" else getattr(fedatlas, name)(
            table, labels
        )


def test_rows_to_test_on_have_the_same_features():
    with pytest.raises(UserError, match="these rows have 2 features, and the training rows 3"):
        Softmax(X, Y, test=(X[:, :2], Y))
    with pytest.raises(UserError, match="labels lie between 0 and 2; of 2 classes they must lie between 0 and 1"):
        Softmax(X, Y, 2)


def test_arrays_and_samples_are_the_same_network():
    def build():
        return nn.Linear(3, 3)

    plain, wrapped = Network((X, Y), build, test=(X, Y)), Network(Samples(X, Y), build)
    frames = [fedatlas.train("fedavg", problem, clients=2, rounds=2, lr=0.1) for problem in (plain, wrapped)]
    assert (frames[0]["loss"] == frames[1]["loss"]).all() and "test_loss" in frames[0]
    images = np.random.default_rng(0).integers(0, 256, (4, 1, 3, 3), dtype=np.uint8)
    network = Network((images, [0, 1, 0, 1]), lambda: nn.Sequential(nn.Flatten(), nn.Linear(9, 2)))
    assert np.isfinite(network.evaluate(network.start(0))["loss"])


def test_the_number_of_clients_of_a_problem():
    assert len(fedatlas.train("gd", Quadratic(np.ones((4, 2)), np.ones((4, 2))), rounds=2, batch=None, lr="1/L")) == 3
    with pytest.raises(UserError, match="train needs a value for 'clients'"):
        fedatlas.train("gd", Softmax(X, Y), rounds=2, lr=0.1)


def test_a_start_of_ones_own():
    start = np.arange(12.0)
    problem = Softmax(X, Y, start=start)
    assert (problem.start(0) == start).all() and problem.start(0) is not start
    with pytest.raises(UserError, match=r"start has shape \(3,\); it must be 12 numbers"):
        Softmax(X, Y, start=start[:3])
