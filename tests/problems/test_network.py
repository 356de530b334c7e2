"""Networks: what modules are refused, where they start, what they see, and that threads change nothing."""

import copy
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from scipy.special import expit
from torch import nn

from fedatlas.errors import UserError
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.networks.losses import LogisticLoss
from fedatlas.federation.networks.network import Network
from fedatlas.federation.networks.samples import Samples, channel_moments
from tests.helpers import example, network


class Functional(nn.Module):
    """A layer without parameters."""

    def __init__(self, function):
        super().__init__()
        self.forward = function


def on(module, **options):
    samples = Samples(np.arange(12.0).reshape(4, 3), np.array([0, 1, 0, 1]))
    return Network(samples, lambda: nn.Sequential(nn.Linear(3, 2), *module), **options)


@pytest.mark.parametrize(
    "module, message",
    [
        ([nn.BatchNorm1d(2)], "changes its buffer .*GroupNorm in place of BatchNorm"),
        ([nn.BatchNorm1d(2, track_running_stats=False)], r"fails on data of shape \(1, 3\)"),
        ([nn.AlphaDropout(0.1)], "layer '1' draws random numbers"),
        ([Functional(lambda y: y + torch.rand_like(y))], "depend on random numbers or on the samples beside it"),
        ([Functional(lambda y: y - y.mean(dim=0))], "depend on random numbers or on the samples beside it"),
    ],
)
def test_modules_that_are_not_functions_of_their_parameters_are_refused(module, message):
    with pytest.raises(UserError, match=message):
        on(module)


def test_lenet_is_the_papers():
    module = ARCHITECTURES.build("lenet").build((1, 28, 28), 10)
    assert sum(p.numel() for p in module.parameters()) == 61_706
    assert ARCHITECTURES.build("lenet").build((3, 32, 32), 10)(torch.zeros(2, 3, 32, 32)).shape == (2, 10)


def test_start_is_the_modules_own_and_seeded():
    problem = network("lenet", dtype="float32")
    torch.manual_seed(5)
    state = torch.get_rng_state()
    first, again, other = problem.start(1), problem.start(1), problem.start(2)
    assert (torch.get_rng_state() == state).all()
    assert (first == again).all() and (first != other).any()
    weights = first[:150]  # of the first convolution, uniform in +-1/5
    assert 0.15 < weights.abs().max() <= 0.2
    assert (network("lenet", dtype="float32").start(1) == first).all()
    double = network("lenet", dtype="float64").start(1)
    assert (double.float() == first).all()
    assert (network("linear", start_scale=0.0).start(1) == 0).all()


def test_starts_of_several_threads_are_those_of_one():
    problem, seeds = network("lenet"), range(60)
    with ThreadPoolExecutor(4) as pool:
        assert all(map(torch.equal, pool.map(problem.start, seeds), map(problem.start, seeds)))


def test_images_are_normalised_by_the_training_sets_moments():
    rng = np.random.default_rng(0)
    X = rng.integers(256, size=(50, 3, 4, 4)).astype(np.uint8) // np.array([1, 2, 5], np.uint8)[:, None, None]
    mean, inverse = channel_moments(X)
    np.testing.assert_allclose(mean, X.mean(axis=(0, 2, 3)))
    np.testing.assert_allclose(1 / inverse, X.std(axis=(0, 2, 3)))
    samples = Samples(X, np.arange(50), mean, inverse, "float64")
    features, labels = samples.gather(samples.index([3, 40]))
    expected = (X[[3, 40]] - mean[:, None, None]) * inverse[:, None, None]
    np.testing.assert_allclose(features.numpy(), expected, rtol=1e-12)
    assert labels.tolist() == [3, 40] and samples.X.dtype == torch.uint8
    assert channel_moments(np.zeros((2, 1, 3, 3), np.uint8))[1] == 1


def test_evaluation_by_hand():
    problem = network("linear", l2=0.5)
    x = problem.start(3)
    module = copy.deepcopy(problem.module)
    nn.utils.vector_to_parameters(x, module.parameters())
    for samples, prefix, penalty in (
        (problem.train, "", 0.25 * float(x @ x)),
        (problem.held_out["test"], "test_", 0.0),
    ):
        features, labels = samples.gather(samples.index(np.arange(60)))
        with torch.no_grad():
            loss = float(nn.CrossEntropyLoss()(module(features), labels)) + penalty
            accuracy = float((module(features).argmax(dim=1) == labels).double().mean())
        metrics = problem.evaluate(x)
        assert metrics[f"{prefix}loss"] == pytest.approx(loss, rel=1e-12)
        assert metrics[f"{prefix}accuracy"] == pytest.approx(accuracy)


@pytest.mark.parametrize("label", [0, 1])
def test_logistic_loss_keeps_its_digits(label):
    z = torch.linspace(-40, 40, 161, dtype=torch.float64, requires_grad=True)
    losses = LogisticLoss.losses(z[:, None], torch.full((161,), label))
    (derivatives,) = torch.autograd.grad(losses.sum(), z)
    sign, at = 1 - 2 * label, z.detach().numpy()
    np.testing.assert_allclose(losses.detach().numpy(), np.logaddexp(0, sign * at), rtol=1e-14)
    np.testing.assert_allclose(derivatives.numpy(), sign * expit(sign * at), rtol=1e-14)


def test_evaluation_on_a_fixed_subset():
    problem, again = network("linear", eval_samples=20), network("linear", eval_samples=20)
    assert len(network("linear", eval_samples="all")._evaluation_rows) == 60
    assert len(problem._evaluation_rows) == 20 == len(problem._evaluation_rows.unique())
    assert (problem._evaluation_rows == again._evaluation_rows).all()
    x = problem.start(0)
    reference = network("linear").evaluate(x)
    assert problem.evaluate(x)["loss"] != reference["loss"]
    assert problem.evaluate(x)["test_loss"] == reference["test_loss"]


@pytest.mark.parametrize("architecture", ["mlp", "lenet"])
def test_threads_change_no_bit(architecture, monkeypatch):
    """Gradients take longer than a thread's turn on a processor, so threads that share numbers meet."""
    for module in ("network", "batch"):
        monkeypatch.setattr(f"fedatlas.federation.networks.{module}.CHUNK", 70)
    problem = network(architecture, side=28, dtype="float32", samples=200)
    setting = Setting(clients=5, rounds=2, batch=400)
    monkeypatch.setattr("fedatlas.federation.engine.resources.Pace.add", lambda self, seconds: None)
    runs = [Simulation(example("fedavg"), problem, setting, threads=threads).run() for threads in (1, 2, 4)]
    assert torch.get_num_threads() == 1
    for run in runs[1:]:
        assert torch.equal(run.x, runs[0].x)
        assert [row["test_loss"] for row in run.rows] == [row["test_loss"] for row in runs[0].rows]


def test_l2_is_weight_decay():
    plain, decayed = network("mlp", l2=0.0), network("mlp", l2=0.3)
    x, rows = plain.start(0), np.arange(10)[None]
    (value, grad), (steeper_value, steeper) = (p.batch([0], rows).value_and_grad(x) for p in (plain, decayed))
    np.testing.assert_allclose((steeper - grad)[0].numpy(), 0.3 * x.numpy(), rtol=1e-9, atol=1e-13)
    assert float(steeper_value - value) == pytest.approx(0.15 * float(x @ x))
    assert "mu" not in plain.constants() and decayed.constant("mu") == 0.3
