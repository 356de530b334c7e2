"""What networks make of samples, for clients and for a server that holds rows: prototypes and distillation."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import fedatlas
from fedatlas import Algorithm, Rows, State, option
from fedatlas.errors import Undefined, UserError
from fedatlas.federation.arrays import concatenate
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.streams import stream
from fedatlas.testing import Implementation, run_tests
from tests.helpers import logistic

RNG = np.random.default_rng(0)
CLASSES, WIDTH, M, T, K, LR, PULL = 3, 4, 3, 3, 2, 0.3, 0.5
DATA = RNG.standard_normal((30, 5)), RNG.integers(CLASSES, size=30)
SPLIT = np.split(np.arange(24), M)  # the last six rows belong to no client


def layers():
    return nn.Sequential(nn.Linear(5, WIDTH), nn.Tanh(), nn.Linear(WIDTH, CLASSES))


def network(split=SPLIT, build=layers):
    return fedatlas.Network(DATA, build, partition=split, dtype="float64")


@dataclass(frozen=True, kw_only=True)
class FedProto(Algorithm):
    """FedProto (Tan et al. 2022): clients share the mean outputs of a layer for each class, and pull theirs to them."""

    name = "fedproto"
    label = "FedProto"
    cite = "mcmahan2017"
    broadcast = ("prototypes", "counts")
    requires = ("outputs",)

    lr: float = option(LR, doc="step size", above=0)
    layer: str = option("1", doc="layer of the prototypes")

    def init(self, x0):
        empty = x0[:1] * 0
        return State(prototypes=empty.repeat(CLASSES * WIDTH), counts=empty.repeat(CLASSES), x=x0), State(y=x0)

    def client(self, s, i, steps):
        y, batches = i.y, list(steps)
        known, centres = s.counts > 0, s.prototypes.view(CLASSES, WIDTH)
        for g in batches:
            pull = g.outputs(y, self.layer) - centres[g.labels]
            y = y - self.lr * (g(y) + g.pullback(y, 2 * PULL * pull * known[g.labels][..., None], self.layer))
        hot = F.one_hot(concatenate([g.labels.T for g in batches]).T, CLASSES).to(y.dtype)  # (m, K b, classes)
        made = concatenate([g.outputs(y, self.layer).transpose(0, 1) for g in batches]).transpose(0, 1)
        return State(sums=(hot.mT @ made).flatten(1), counts=hot.sum(1)), State(y=y)

    def server(self, s, mean, n):
        fresh = mean.counts > 0
        means = mean.sums.view(CLASSES, WIDTH) / mean.counts.clamp(min=1e-12)[:, None]
        prototypes = torch.where(fresh[:, None], means, s.prototypes.view(CLASSES, WIDTH))
        return s.replace(prototypes=prototypes.flatten(), counts=s.counts + mean.counts)

    def client_model(self, s, i):
        return i.y


@dataclass(frozen=True, kw_only=True)
class FedDF(Algorithm):
    """FedDF (Lin et al. 2020): the server distils the clients' models into their mean, on rows that no client has."""

    name = "feddf"
    label = "FedDF"
    cite = "mcmahan2017"
    requires = ("outputs", "public")

    lr: float = option(LR, doc="step size", above=0)

    def client(self, s, i, steps):
        y = s.x
        for g in steps:
            y = y - self.lr * g(y)
        return State(model=Rows(y))

    def server(self, s, mean, n):
        x = mean.model.mean(0)
        for _ in range(4):
            g = n.public(5)
            target = g.outputs(mean.model).mean(0).softmax(-1)
            x = x - self.lr * g.pullback(x, g.outputs(x).softmax(-1) - target)[0]
        return State(x=x)


def simulation(cls, problem=None, block=None, **options):
    setting = {"clients": M, "rounds": T, "local_steps": K, "batch": 4} | options
    return Simulation(cls(), network() if problem is None else problem, Setting(**setting), 1, block)


def scores(x, data):
    """Return the hidden outputs and the scores of the network at x, as functions of x."""
    W, b, V, c = x.split([5 * WIDTH, WIDTH, WIDTH * CLASSES, CLASSES])
    hidden = torch.tanh(data @ W.view(WIDTH, 5).T + b)
    return hidden, hidden @ V.view(CLASSES, WIDTH).T + c


def descend(x, loss, lr=LR):
    x = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(x), x)
    return (x - lr * gradient).detach()


def minibatch(run, t, i, k):
    draws = run.sampler.draw(t, np.arange(M), K)[i, k]
    return torch.tensor(DATA[0][draws]), torch.tensor(DATA[1][draws])


def test_prototypes_are_those_of_a_loop():
    run = simulation(FedProto)
    run.run()
    models, prototypes = [run.x0] * M, {}
    for t in range(T):
        seen = {c: [] for c in range(CLASSES)}
        for i in range(M):
            for k in range(K):
                data, labels = minibatch(run, t, i, k)

                def loss(x, data=data, labels=labels, known=prototypes):
                    hidden, z = scores(x, data)
                    pairs = zip(hidden, labels.tolist(), strict=True)
                    pulls = [((h - known[c]) ** 2).sum() for h, c in pairs if c in known]
                    return F.cross_entropy(z, labels) + PULL * sum(pulls) / len(labels)

                models[i] = descend(models[i], loss)
            for k in range(K):
                data, labels = minibatch(run, t, i, k)
                for h, c in zip(scores(models[i], data)[0], labels.tolist(), strict=True):
                    seen[c].append(h)
        prototypes |= {c: torch.stack(hs).mean(0) for c, hs in seen.items() if hs}
    for c, prototype in prototypes.items():
        assert torch.allclose(run.s.prototypes.view(CLASSES, WIDTH)[c], prototype, rtol=1e-9, atol=1e-12)
    for i in range(M):
        assert torch.allclose(run.clients.table.read(np.array([i])).y[0], models[i], rtol=1e-9, atol=1e-12)


def test_distillation_is_that_of_a_loop_and_only_of_rows_that_no_client_has():
    run = simulation(FedDF)
    run.run()
    x = run.x0
    for t in range(T):
        models = []
        for i in range(M):
            y = x
            for k in range(K):
                data, labels = minibatch(run, t, i, k)
                y = descend(y, lambda v, data=data, labels=labels: F.cross_entropy(scores(v, data)[1], labels))
            models.append(y)
        x, rng = torch.stack(models).mean(0), stream(1, "algorithm", t, 0)
        for _ in range(4):
            data = torch.tensor(DATA[0][24:][rng.integers(6, size=5)])
            target = torch.stack([scores(y, data)[1] for y in models]).mean(0).softmax(-1)
            x = descend(x, lambda v, data=data, target=target: F.cross_entropy(scores(v, data)[1], target))
    assert torch.allclose(run.output, x, rtol=1e-9, atol=1e-12)


def test_outputs_and_their_pullback_are_those_of_autograd_with_the_masks_of_dropout():
    problem = network(build=lambda: nn.Sequential(nn.Linear(5, WIDTH), nn.Dropout(0.5), nn.Linear(WIDTH, CLASSES)))
    batch = problem.batch(np.arange(2), np.array([[1, 2], [3, 4]]) + 30 * np.array([[5], [6]]))
    y = torch.stack([problem.start(0), problem.start(1)])
    first, again = batch.outputs(y, "1"), batch.outputs(y, "1")
    assert torch.equal(first, again) and (first == 0).any() and first.shape == (2, 2, WIDTH)
    v = torch.ones(2, 2, CLASSES, dtype=y.dtype)
    shift = torch.full_like(y, 1e-6)
    slope = (batch.outputs(y + shift, "") - batch.outputs(y - shift, "")).sum(-1).mean(-1) / 2e-6
    assert torch.allclose(batch.pullback(y, v, "").sum(-1), slope, rtol=1e-6)


def test_what_is_not_there_is_a_sentence():
    with pytest.raises(Undefined, match="outputs of layers, but this problem has none"):
        simulation(FedProto, logistic(clients=M))
    with pytest.raises(UserError, match="there is no layer '7'; there are 0, 1, 2"):
        network().batch(np.array([0]), np.array([[1]])).outputs(network().start(0), "7")
    with pytest.raises(Undefined, match="algorithm feddf draws rows that no client has, but the clients have all"):
        simulation(FedDF, network(np.split(np.arange(30), M)))


def test_check_does_not_accuse_rows_of_the_server():
    implementation = Implementation(FedDF)
    for name in ("runs", "blocks", "checkpoint"):
        (outcome,) = run_tests(implementation, [name])
        assert outcome.status == "passed", outcome
