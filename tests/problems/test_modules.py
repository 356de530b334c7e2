"""Networks as people write them: layers that return tuples, shared parameters, and what is refused."""

import numpy as np
import pytest
import torch
from torch import nn

import fedatlas
from fedatlas.errors import UserError

TOKENS, CLASSES = 11, 7
RNG = np.random.default_rng(0)
DATA = RNG.integers(TOKENS, size=(24, 5)).astype(float), RNG.integers(CLASSES, size=24)
PARTITION = np.array_split(np.arange(24), 3)


class Reader(nn.Module):
    """Scores of the next token from a recurrent layer or attention, over tokens (b, length)."""

    def __init__(self, layer, returned=lambda scores: scores):
        super().__init__()
        self.embedding, self.layer, self.output = nn.Embedding(TOKENS, 4), layer, nn.Linear(4, CLASSES)
        self.returned = returned

    def forward(self, tokens):
        states = self.embedding(tokens.long())
        inputs = (states, states, states) if isinstance(self.layer, nn.MultiheadAttention) else (states,)
        return self.returned(self.output(self.layer(*inputs)[0][:, -1]))


def recurrent(kind, **options):
    return lambda: Reader(kind(4, 4, batch_first=True, **options))


MODULES = {
    "LSTM": recurrent(nn.LSTM),
    "two layers of GRU": recurrent(nn.GRU, num_layers=2),
    "attention": lambda: Reader(nn.MultiheadAttention(4, 2, batch_first=True)),
}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_trains_whose_layers_return_tuples(name):
    problem = fedatlas.Network(DATA, MODULES[name], partition=PARTITION, dtype="float64")
    module, x = MODULES[name]().double(), problem.start(3)
    nn.utils.vector_to_parameters(x, module.parameters())
    loss = nn.functional.cross_entropy(module(torch.tensor(DATA[0][:6])), torch.tensor(DATA[1][:6]))
    loss.backward()
    expected = torch.cat([parameter.grad.reshape(-1) for parameter in module.parameters()])
    gradient = problem.batch(np.array([0]), np.arange(6)[None]).grad(x)[0]
    assert torch.allclose(gradient, expected, rtol=1e-10, atol=1e-14)
    assert problem.constant("head") == 4 * CLASSES + CLASSES
    frame = fedatlas.train("fedavg", problem, rounds=3, local_steps=2, batch=4, lr=0.5)
    assert frame["loss"].iloc[-1] < frame["loss"].iloc[0]


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (recurrent(nn.LSTM, num_layers=2, dropout=0.5), "'layer' draws random numbers"),
        (lambda: Reader(nn.MultiheadAttention(4, 2, dropout=0.1, batch_first=True)), "'layer' draws random numbers"),
        (lambda: nn.Linear(5, 2), "makes 2 scores of a sample, and the largest label is 6"),
        (lambda: nn.LSTM(5, 3), r"makes tuple; it must return a tensor of scores"),
        (lambda: Reader(nn.LSTM(4, 4, batch_first=True), lambda scores: scores[:, 0]), r"makes shape \(1,\); it must"),
        (lambda: nn.Linear(4, 3), r"fails on data of shape \(2, 5\)"),
    ],
)
def test_a_module_that_cannot_serve_is_refused(build, sentence):
    with pytest.raises(UserError, match=sentence):
        fedatlas.Network(DATA, build, partition=PARTITION)


def adapted(rank=2):
    """A network whose layers are frozen but for low-rank adapters and the scores."""

    class Adapted(nn.Module):
        def __init__(self):
            super().__init__()
            self.base, self.down = nn.Linear(5, 40), nn.Linear(5, rank, bias=False)
            self.up, self.output = nn.Linear(rank, 40, bias=False), nn.Linear(40, CLASSES)
            self.base.requires_grad_(False)

        def forward(self, tokens):
            tokens = tokens / TOKENS
            return self.output(torch.tanh(self.base(tokens) + self.up(self.down(tokens))))

    return Adapted()


TRAINED = 5 * 2 + 2 * 40 + 40 * CLASSES + CLASSES


def test_a_frozen_parameter_is_no_part_of_x():
    problem = fedatlas.Network(DATA, adapted, partition=PARTITION, dtype="float64")
    assert problem.dim == len(problem.start(0)) == TRAINED
    assert problem.constant("head") == 40 * CLASSES + CLASSES
    module, x = problem.module, problem.start(3)
    trained = [p for p in module.parameters() if p.requires_grad]
    nn.utils.vector_to_parameters(x, trained)
    loss = nn.functional.cross_entropy(module(torch.tensor(DATA[0][:6])), torch.tensor(DATA[1][:6]))
    loss.backward()
    expected = torch.cat([p.grad.reshape(-1) for p in trained])
    gradient = problem.batch(np.array([0]), np.arange(6)[None]).grad(x)[0]
    assert torch.allclose(gradient, expected, rtol=1e-10, atol=1e-14)
    data, labels = problem.train.gather(problem.train.index(np.arange(6)))
    _, stacked = problem.stacked.value_and_grad(x[None], data[None], labels[None])
    assert torch.allclose(stacked[0], expected, rtol=1e-10, atol=1e-14)


def test_a_module_with_frozen_parameters_alone_is_refused():
    with pytest.raises(UserError, match="no parameters that are trained"):
        fedatlas.Network(DATA, lambda: nn.Linear(5, CLASSES).requires_grad_(False))
