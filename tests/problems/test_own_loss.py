"""Losses of a user's own: regression, a label for each position, weights beside labels."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import fedatlas
from fedatlas.errors import UserError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((24, 5))
PARTITION = np.array_split(np.arange(24), 3)
TOKENS = 7


def squares(z, y):
    return (z[:, 0] - y) ** 2


def weighted(z, y):
    return y[:, 1] * (z[:, 0] - y[:, 0]) ** 2


def positions(z, y):
    return functional.cross_entropy(z.movedim(-1, 1), y, reduction="none").mean(dim=1)


CASES = {
    "regression": (squares, RNG.standard_normal(24), lambda: nn.Linear(5, 1)),
    "weights": (weighted, RNG.random((24, 2)), lambda: nn.Linear(5, 1)),
    "positions": (
        positions,
        RNG.integers(TOKENS, size=(24, 4)),
        lambda: nn.Sequential(nn.Linear(5, 4 * TOKENS), nn.Unflatten(1, (4, TOKENS))),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_gradients_and_metrics_follow_the_loss(case):
    loss, y, build = CASES[case]
    problem = fedatlas.Network((X, y), build, (X, y), PARTITION, loss=loss, dtype="float64", l2=0.5)
    x, module = problem.start(1), build().double()
    nn.utils.vector_to_parameters(x, module.parameters())
    expected = loss(module(torch.tensor(X)), torch.tensor(y)).mean()
    metrics = problem.evaluate(x)
    assert {*metrics} == {"loss", "test_loss"}
    assert metrics["test_loss"] == pytest.approx(float(expected.detach()), rel=1e-12)
    expected.backward()
    gradient = torch.cat([p.grad.reshape(-1) for p in module.parameters()]) + 0.5 * x
    every = np.arange(24)[None]
    assert torch.allclose(problem.batch(np.array([0]), every).grad(x)[0], gradient, rtol=1e-10, atol=1e-14)
    data, labels = problem.train.gather(problem.train.index(every[0]))
    assert problem.stacked.runs(data[:1], labels[:1])
    problem._block_rows = 2  # as on a GPU, where the clients of a block are one pass
    stacked = problem.batch(np.array([0, 1]), np.stack([every[0], every[0]]))
    assert stacked.stackable and torch.allclose(stacked.grad(x), gradient.expand(2, -1), rtol=1e-10, atol=1e-14)
    settings = {"rounds": 3, "local_steps": 2, "batch": 4, "lr": 0.05, "metrics": ["test_loss_clients_max"]}
    problem = fedatlas.Network((X, y), build, (X, y), PARTITION, test_partition=PARTITION, loss=loss)
    frame = fedatlas.train("fedavg", problem, **settings)
    assert frame["loss"].iloc[-1] < frame["loss"].iloc[0]
    assert "accuracy" not in frame and np.isfinite(frame["test_loss_clients_max"]).all()


@pytest.mark.parametrize(
    ("loss", "y", "sentence"),
    [
        (lambda z, y: ((z[:, 0] - y) ** 2).mean(), X[:, 0], "must return the loss of each sample, a tensor (1,)"),
        (lambda z, y: 0.0, X[:, 0], "loss returned float"),
        (squares, X[:20, 0], "labels of shape (20,)"),
        (squares, np.full(24, np.nan), "row 0 has a label that is NaN"),
        ("square", np.arange(24), "'square'"),
    ],
)
def test_a_loss_that_does_not_fit_is_refused(loss, y, sentence):
    with pytest.raises(UserError) as error:
        fedatlas.Network((X, y), lambda: nn.Linear(5, 1), partition=PARTITION, loss=loss)
    assert sentence in str(error.value)
