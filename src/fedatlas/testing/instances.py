"""Small problems of conformance tests, which take milliseconds and need no dataset."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fedatlas.data.dataset import Dataset
from fedatlas.federation import partitions
from fedatlas.federation.architectures.linear import Linear
from fedatlas.federation.partitions.partition import Partition
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.problems.network import NeuralNetwork
from fedatlas.federation.problems.quadratic import Quadratic, SyntheticQuadratic
from fedatlas.federation.problems.softmax import Softmax

if TYPE_CHECKING:
    from fedatlas.federation.networks.network import Network

UNEQUAL_SIZES = (7, 12, 7, 20, 14)  # 2, 3, 2, 5 and 4 batches of 4 in an epoch, some of whose last ones are smaller


def dirichlet(y: np.ndarray, clients: int, seed: int = 0, alpha: float = 1.0) -> Partition:
    """Split rows over clients with label skew.

    Args:
        y: Labels, of shape (n,).
        clients: Number of clients.
        seed: Seed of the split.
        alpha: Parameter of the Dirichlet distribution.
    """
    partition = partitions.split({"kind": "dirichlet", "seed": seed, "alpha": alpha}, y, clients)
    assert partition is not None  # only the kind `shared` has none
    return partition


def logistic(
    clients: int = 5,
    samples: int = 60,
    dim: int = 7,
    l2: float = 0.1,
    seed: int = 0,
    heterogeneous: bool = True,
) -> Logistic:
    """Create logistic regression, split over clients by label where heterogeneous, else shared by all."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((samples, dim))
    b = (A @ rng.standard_normal(dim) + 0.5 * rng.standard_normal(samples) > 0).astype(int)
    return Logistic(A, b, l2, dirichlet(b, clients, seed) if heterogeneous else None)


def unequal_clients(weights: Literal["equal", "size"] = "equal") -> Logistic:
    """Create logistic regression of five clients with different labels and 4 to 20 samples, with its optimum.

    Args:
        weights: Whether clients count equally or by their size.
    """
    problem = logistic(heterogeneous=False)
    order = np.argsort(problem.b, kind="stable")
    split = Partition("unequal", 0, {}, 5, 60, order, np.cumsum([0, 4, 8, 12, 16, 20]))
    problem = Logistic(problem.A, problem.b > 0, problem.l2, split, weights=weights)
    problem.optimum = problem.solve()
    return problem


def softmax(
    clients: int = 5,
    samples: int = 60,
    features: int = 6,
    classes: int = 3,
    l2: float = 0.1,
    seed: int = 0,
    heterogeneous: bool = True,
    **options: Any,
) -> Softmax:
    """Create softmax regression, split over clients by label where heterogeneous, else shared by all."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((samples, features))
    y = (A @ rng.standard_normal((features, classes)) + rng.gumbel(size=(samples, classes))).argmax(axis=1)
    partition = dirichlet(y, clients, seed) if heterogeneous else None
    return Softmax(A, y, classes, l2, partition, **options)


def quadratic(clients: int = 5, dim: int = 8, **options: Any) -> Quadratic:
    """Create quadratics that differ in Hessians, optima and, unless ``noise=0``, from step to step."""
    options = {"L": 10.0, "similarity": 0.5, "heterogeneity": 1.0, "noise": 0.3, "samples": 60} | options
    return SyntheticQuadratic(dim=dim, **options).build(clients)


def common_minimiser() -> Quadratic:
    """Create quadratics of five clients with a common minimiser, the start of every run; all gradients are 0 there."""
    problem = quadratic(heterogeneity=0.0, noise=0.0)
    minimiser = problem.solve().x
    problem.start = lambda seed: minimiser  # type: ignore[method-assign]
    return problem


def network(
    architecture: Any = "mlp",
    clients: int = 5,
    samples: int = 60,
    side: int = 8,
    classes: int = 3,
    heterogeneous: bool = True,
    **options: Any,
) -> "Network":
    """Create a network, by default in float64, on random uint8 images of one channel, half of them test rows."""
    rng = np.random.default_rng(0)
    X = rng.integers(256, size=(2 * samples, 1, side, side)).astype(np.uint8)
    y = rng.integers(classes, size=2 * samples)
    data = Dataset("noise", X[:samples], y[:samples], X[samples:], y[samples:], classes, {}, 255.0)
    partition = dirichlet(data.y, clients, 0) if heterogeneous else None
    options = {"architecture": architecture, "l2": 0.1, "dtype": "float64"} | options
    problem: Any = NeuralNetwork(**options).build(data, None, partition)
    problem.prepare_threads(1)
    return problem


def twin(problem: Logistic) -> "Network":
    """Create the torch twin of a Logistic of NumPy: a linear layer on the same data, with the same start."""
    from fedatlas.federation.networks.network import Network
    from fedatlas.federation.networks.samples import Samples

    return Network(
        Samples(problem.A, (problem.b > 0).astype(int), dtype="float64"),
        lambda: Linear(bias=False).build((problem.A.shape[1],), 1),
        loss="logistic",
        l2=problem.l2,
        partition=problem.partition,
        start_scale=problem.start_scale,
    )


def unequal_shares(problem: Any) -> Any:
    """Split the 60 rows of a problem of five clients into shares of different size, and return the problem."""
    order = np.random.default_rng(0).permutation(60)
    problem.partition = Partition("unequal", 0, {}, 5, 60, order, np.cumsum([0, *UNEQUAL_SIZES]))
    return problem
