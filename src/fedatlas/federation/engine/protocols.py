"""The types of what algorithms, problems and the engine ask of each other.

The engine imports neither algorithms nor problems, and an algorithm sees nothing else of simulations and problems.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from fedatlas.federation.arrays import Array

if TYPE_CHECKING:
    from fedatlas.federation.channels import Channel, Coded
    from fedatlas.federation.participation import Participation
    from fedatlas.federation.partitions.partition import Partition
    from fedatlas.federation.topologies.mixing import Mixing


class Outputs(Protocol):
    """What a network makes of the samples of minibatches; points y are (m, d), or (d,) for all."""

    @property
    def labels(self) -> Array:
        """Labels of the minibatch's samples, (m, b)."""

    def outputs(self, y: Array, layer: str = "") -> Array:
        """Return what a layer, by its name in torch, makes of each sample at y: (m, b, k). It counts as a gradient."""

    def pullback(self, y: Array, v: Array, layer: str = "") -> Array:
        """Return the gradients at y of the means over samples of <outputs, v>, (m, d), for v (m, b, k)."""


class Gradient(Outputs, Protocol):
    """The stochastic gradient of a block of m clients in one local step. All calls use the same minibatches.

    Its argument y is (m, d), or (d,) if all clients are at one point.
    """

    def __call__(self, y: Array) -> Array:
        """Return the gradients at y: (m, d)."""

    def value_and_grad(self, y: Array) -> tuple[Array, Array]:
        """Return the losses (m, 1) and gradients (m, d) at y."""


class Steps(Protocol):
    """The local steps of a block of m clients in one round: iterating yields one `Gradient` for each local step.

    Points y and v are (m, d), or (d,) if all clients are at one point.
    """

    def __iter__(self) -> Iterator[Gradient]: ...

    def __len__(self) -> int:
        """Number K of local steps of this round."""

    @property
    def round(self) -> int:
        """Number t of the round, from 0; in asynchronous runs, of the client's computations before this one."""

    @property
    def local(self) -> int:
        """Local steps of the setting, the argument K of `Algorithm.length`, which local epochs do not have."""

    @property
    def p(self) -> Array:
        """Probabilities of the clients to be active this round: (m, 1). Raises UserError if they are unknown."""

    @property
    def share(self) -> Array:
        """Samples of the current step's minibatch divided by the samples of its client: (m, 1)."""

    @property
    def sizes(self) -> Array:
        """Samples n_i of the clients: (m, 1)."""

    @property
    def clients(self) -> np.ndarray:
        """Ids of the clients, (m,)."""

    @property
    def all_clients(self) -> int:
        """Number of all clients, active or not."""

    def shared_rng(self) -> np.random.Generator:
        """Return a generator that is the same for all clients of the round, in its first state."""

    def client_rngs(self) -> list[np.random.Generator]:
        """Return a generator for each client, in its first state; seed, round and client determine its draws."""

    def code(self, channel: "Channel", v: Array) -> "Coded":
        """Return rows v (m, d) as a receiver has them after a channel, with the bits that are sent for them."""

    def full(self, y: Array, where: Array | None = None) -> Array:
        """Return the full local gradients G_i(y): (m, d). With ``full_gradients: minibatch`` of the setting, return the
        means of the round's K stochastic gradients instead. Clients outside of the mask ``where`` (m, 1) compute none;
        their rows are 0.
        """

    def mean(self, y: Array) -> Array:
        """Return the means of the round's K stochastic gradients, all of them at y: (m, d)."""

    def pick(self, v: Array, first: bool = False) -> Array:
        """Return rows (m, d) whose mean over active clients is the row of v of one of them: one that is drawn at
        random, or the first, of the lowest id.
        """

    def prox(self, v: Array, weight: float) -> Array:
        """Return the exact minimisers over y of f_i(y) + weight/2 |y - v|^2: (m, d)."""

    def hessian_product(self, y: Array, v: Array) -> Array:
        """Return the products of the Hessians of the clients' objectives at y with v: (m, d)."""

    def record(self, **values: Any) -> None:
        """Record values of the current local step, (m, 1) each or one number for all clients."""


class Round(Protocol):
    """The numbers of a round that the server knows."""

    @property
    def active(self) -> int:
        """Number |S| of active clients."""

    @property
    def ids(self) -> np.ndarray:
        """Ids of the active clients, (active,), in the order of the rows that the server gets: ascending."""

    @property
    def clients(self) -> int:
        """Number of all clients."""

    @property
    def round(self) -> int:
        """Number t of the round, from 0."""

    @property
    def steps(self) -> float:
        """Local steps, averaged over active clients."""

    @property
    def expected_active(self) -> float:
        """Expected number of active clients, the sum of their probabilities. Raises UserError if it is unknown."""

    @property
    def discount(self) -> float:
        """Mean over messages of the weights that the driver gave late ones; 1 in synchronous rounds."""

    @property
    def rng(self) -> np.random.Generator:
        """Generator for what the server draws in this round."""

    def public(self, samples: int) -> Outputs:
        """Return a minibatch of rows that no client has, for any number of models, (k, d). It counts as nothing."""


class DriverKind(Protocol):
    """The part of a driver that algorithms read; see `fedatlas.federation.engine.drivers`."""

    @property
    def name(self) -> str: ...

    @property
    def separate(self) -> bool: ...

    def validate(self, algorithm: "EngineAlgorithm", clients: int) -> None: ...


class Setting(Protocol):
    """The part of a setting that algorithms, drivers and rounds read; see `fedatlas.federation.engine.setting`."""

    @property
    def clients(self) -> int: ...

    @property
    def local_steps(self) -> int | None: ...

    @property
    def local_epochs(self) -> int | None: ...

    def last_factor(self) -> float: ...

    @property
    def full_participation(self) -> bool: ...

    @property
    def exact_gradients(self) -> bool: ...

    @property
    def sampling_probability(self) -> float | None: ...

    @property
    def channels(self) -> "tuple[Channel, Channel]": ...

    @property
    def constant_lr(self) -> bool: ...

    @property
    def batch(self) -> int | None: ...

    @property
    def clip(self) -> float | None: ...

    @property
    def participation_kind(self) -> "Participation": ...

    @property
    def record(self) -> list[str] | None: ...

    def recorded(self, round: int) -> tuple[str, ...]: ...

    @property
    def driver_kind(self) -> "DriverKind": ...

    @property
    def coded_down(self) -> bool: ...


class Proximal(Protocol):
    """A problem, or a kind of problem, that says whether its clients have an exact proximal step, and Hessians."""

    def has_prox(self) -> bool:
        """Return whether clients of this problem have an exact proximal step."""

    def has_hessian(self) -> bool:
        """Return whether clients of this problem have products with their Hessians."""

    @property
    def outputs(self) -> bool:
        """Whether minibatches have outputs of layers, and labels."""


class Problem(Proximal, Protocol):
    """The part of a problem that algorithms read; see `fedatlas.federation.problems.base`."""

    def constant(self, name: str) -> float | None:
        """Return a constant of the problem, such as ``mu``; None if it is unknown."""


class Batch(Protocol):
    """Minibatches of a block of m clients: oracles of their losses and gradients."""

    @property
    def size(self) -> Any:
        """Samples of each client: a number, or (m,)."""

    def grad(self, y: Any) -> Any:
        """Return gradients (m, d) at y, (m, d) or (d,)."""

    def value_and_grad(self, y: Any) -> tuple[Any, Any]:
        """Return losses (m, 1) and gradients (m, d) at y, (m, d) or (d,)."""


class EngineProblem(Problem, Protocol):
    """The part of a problem that the engine uses: see `fedatlas.federation.problems.base.Problem`."""

    @property
    def dim(self) -> int: ...

    @property
    def shapes(self) -> Sequence[tuple[int, ...]]: ...

    @property
    def samples(self) -> int: ...

    @property
    def variants(self) -> int: ...

    @property
    def partition(self) -> "Partition | None": ...

    @property
    def shared(self) -> bool: ...

    @property
    def block_rows(self) -> int: ...

    def start(self, seed: int) -> Any: ...

    def start_from(self, rng: Any) -> Any: ...

    def batch(self, clients: np.ndarray, index: np.ndarray) -> Batch: ...

    def full_batch(self, clients: np.ndarray) -> Batch: ...

    def prox(self, v: Any, weight: float, clients: np.ndarray) -> Any: ...

    def evaluate_all(self, points: Sequence[Any]) -> list[dict[str, float]]: ...

    def evaluate_clients(self, y: Any, clients: np.ndarray, names: Sequence[str]) -> dict[str, np.ndarray]: ...

    def kernel(self, simulations: Sequence[Any]) -> Any: ...

    def clock(self) -> float: ...

    def prepare_threads(self, threads: int) -> None: ...

    def memory(self, batch: int, clients: int) -> dict[str, int]: ...

    def free_memory(self) -> int: ...

    def validate_clients(self, clients: int) -> None: ...


class EngineAlgorithm(Protocol):
    """The part of an algorithm that the engine uses: see `fedatlas.federation.algorithms.base.Algorithm`."""

    @property
    def name(self) -> str: ...

    @property
    def broadcast(self) -> tuple[str, ...]: ...

    @property
    def personal(self) -> tuple[str, ...]: ...

    @property
    def records(self) -> tuple[str, ...]: ...

    @property
    def reports(self) -> tuple[str, ...]: ...

    @property
    def full_participation(self) -> bool: ...

    @property
    def pooled(self) -> bool: ...

    @property
    def public(self) -> bool: ...

    @property
    def exact_prox(self) -> bool: ...

    def title(self) -> str: ...

    def overrides(self, hook: str) -> bool: ...

    def with_constants(self, problem: Problem) -> Self: ...

    def validate(self, setting: Setting, problem: Proximal) -> None: ...

    def init(self, x0: Any, *clients: Any, **none: Any) -> tuple[Any, Any]: ...

    def before(self, s: Any, i: Any, steps: Steps) -> Any: ...

    def client(self, s: Any, i: Any, steps: Steps) -> Any: ...

    def server(self, s: Any, mean: Any, n: Round) -> Any: ...

    def empty_round(self, s: Any, n: Round) -> Any: ...

    def receive(self, s: Any, i: Any) -> Any: ...

    def client_weights(self, steps: Steps) -> Any: ...

    def output(self, s: Any) -> Any: ...

    def client_model(self, s: Any, i: Any) -> Any: ...

    def server_metrics(self, s: Any, n: Round) -> dict[str, float]: ...

    def single_client(self) -> bool: ...

    def length(self, K: int, rng: np.random.Generator) -> int: ...

    def mixing(self, clients: int, *t: Any, **none: Any) -> "Mixing | None": ...

    def recurrence(self, K: int) -> Any: ...

    def resume(self, s: Any) -> Any: ...
