"""Small problems and valid hyper-parameters for tests over the whole registry."""

import contextlib

import numpy as np
import pytest

from fedatlas import UserError, algorithms, partitions
from fedatlas.architectures.linear import Linear
from fedatlas.data.dataset import Dataset
from fedatlas.problems.logistic import Logistic
from fedatlas.problems.network import NeuralNetwork
from fedatlas.problems.quadratic import SyntheticQuadratic
from fedatlas.problems.softmax import Softmax
from fedatlas.simulation.engine import Simulation
from fedatlas.simulation.setting import Setting


def example(name, **overrides):
    """An algorithm with every required hyper-parameter at 0.1 (eta, an inverse step size, at 20), unless overridden;
    unknown overrides are dropped."""
    fields = algorithms.get(name).options()
    required = {f.name: 20.0 if f.name == "eta" else 0.1 for f in fields.values() if f.required}
    return algorithms.create(name, required | {k: v for k, v in overrides.items() if k in fields})


@contextlib.contextmanager
def where_defined():
    """Skips the test where an algorithm refuses the setting or the problem."""
    try:
        yield
    except UserError as error:
        if "no exact proximal step" in str(error) or "full participation only" in str(error):
            pytest.skip(str(error))
        raise


def dirichlet(y, clients, seed=0, alpha=1.0):
    """Labels split over clients with label skew."""
    return partitions.split({"kind": "dirichlet", "seed": seed, "alpha": alpha}, y, clients)


def logistic(clients=5, samples=60, dim=7, l2=0.1, seed=0, heterogeneous=True):
    """Logistic regression, split over clients by label where heterogeneous, else shared by all."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((samples, dim))
    b = (A @ rng.standard_normal(dim) + 0.5 * rng.standard_normal(samples) > 0).astype(int)
    split = dirichlet(b, clients, seed) if heterogeneous else None
    return Logistic(A, b, l2, split)


def _labelled(samples, features, classes, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((samples, features))
    scores = A @ rng.standard_normal((features, classes)) + rng.gumbel(size=(samples, classes))
    return A, scores.argmax(axis=1)


def softmax(clients=5, samples=60, features=6, classes=3, l2=0.1, seed=0, heterogeneous=True, **options):
    """Softmax regression, split over clients by label where heterogeneous, else shared by all."""
    A, y = _labelled(samples, features, classes, seed)
    split = dirichlet(y, clients, seed) if heterogeneous else None
    return Softmax(A, y, classes, l2, split, **options)


def quadratic(clients=5, dim=8, **options):
    """Quadratics that differ in Hessians, optima and, unless ``noise=0``, from step to step."""
    options = {"L": 10.0, "similarity": 0.5, "heterogeneity": 1.0, "noise": 0.3, "samples": 60} | options
    return SyntheticQuadratic(dim=dim, **options).build(clients)


def network(architecture="mlp", clients=5, samples=60, side=8, classes=3, heterogeneous=True, **options):
    """A network, in float64 unless told otherwise, on random uint8 images of one channel, half of them held out."""
    rng = np.random.default_rng(0)
    X = rng.integers(256, size=(2 * samples, 1, side, side)).astype(np.uint8)
    y = rng.integers(classes, size=2 * samples)
    data = Dataset("noise", X[:samples], y[:samples], X[samples:], y[samples:], classes, False, {}, 255.0)
    split = dirichlet(data.y, clients, 0) if heterogeneous else None
    options = {"architecture": architecture, "l2": 0.1, "dtype": "float64"} | options
    problem = NeuralNetwork(**options).build(data, None, split)
    problem.prepare_threads(1)
    return problem


def twin(problem, loss):
    """The torch twin of a NumPy Logistic or Softmax: one linear layer on the same data, from the same start."""
    from fedatlas.torch.network import Network
    from fedatlas.torch.samples import Samples

    if loss == "logistic":
        outputs, labels, bias = 1, (problem.b > 0).astype(int), False
    else:
        outputs, labels, bias = problem.classes, problem.y, problem.bias
    layer = Linear(bias=bias)
    return Network(
        Samples(problem.A, labels, dtype="float64"),
        lambda: layer.build((problem.A.shape[1],), outputs),
        loss=loss,
        l2=problem.l2,
        partition=problem.partition,
        start_scale=problem.start_scale,
    )


def like(problem, v):
    """A NumPy array in the library and type of a problem's vectors."""
    start = problem.start(0)
    return np.asarray(v, start.dtype) if isinstance(start, np.ndarray) else start.new_tensor(v)


def run(name, parameters, problem, seed=1, **options):
    """The History of a method of a registered name; by default five clients with full gradients for eight rounds."""
    options = {"clients": 5, "local_steps": 4, "rounds": 8, "batch": None, "eval_rounds": 1} | options
    return Simulation(algorithms.create(name, parameters), problem, Setting(**options), seed).run()
