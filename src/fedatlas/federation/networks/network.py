"""Networks as flat-vector oracles: any torch module that is a function of its parameters alone."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from fedatlas.errors import UserError
from fedatlas.federation import arrays
from fedatlas.federation.architectures import Architecture
from fedatlas.federation.networks import device as devices
from fedatlas.federation.networks.augment import augment
from fedatlas.federation.networks.losses import LOSSES
from fedatlas.federation.networks.replica import Replica, activations, check, flatten
from fedatlas.federation.networks.samples import Samples, channel_moments
from fedatlas.federation.networks.stacked import Stacked
from fedatlas.federation.problems.base import Problem, evaluation_rows
from fedatlas.federation.problems.network import NeuralNetwork
from fedatlas.federation.streams import stream
from fedatlas.io.machine import require_memory

if TYPE_CHECKING:
    from fedatlas.data.dataset import Dataset
    from fedatlas.federation.partitions.partition import Partition

CHUNK = 1000  # rows that go through the module at once where they are not one minibatch
STACK_BYTES = 2**30  # of the parameters of clients that a GPU computes in one pass
STACK = 64  # clients of such a pass at most


def on_data(given: NeuralNetwork, train: "Dataset", test: "Dataset | None", partition: "Partition | None") -> "Network":
    """A Network on prepared data. Arguments as for ``NeuralNetwork.build``, after its options."""
    device = devices.choose(given.device)
    devices.prepare(device, given.precision)
    images = train.X.ndim == 4
    if given.augment is not None and not images:
        raise UserError("network: augment is for images, which these data are not: leave it out")
    shift: ArrayLike | None = None
    scale: ArrayLike | None = None
    if images:
        shift, scale = channel_moments(train.X) if given.normalise else (None, 1 / train.scale)
    X, y = (test.X, test.y) if test is not None else (train.X_test, train.y_test)
    samples = Samples(train.X, train.y, shift, scale, given.dtype, device)
    held_out = None if X is None or y is None else Samples(X, y, shift, scale, given.dtype, device)
    X, y = train.X_validation, train.y_validation
    validation = None if y is None else Samples(X, y, shift, scale, given.dtype, device)
    outputs = LOSSES[given.loss].outputs(train.classes)
    architecture, shape = given.architecture_kind, tuple(train.X.shape[1:])
    _check_size(architecture, shape, outputs)

    def build() -> nn.Module:
        module = architecture.build(shape, outputs)
        return devices.Autocast(module) if given.precision == "bf16" else module

    return Network(samples, build, held_out, partition, validation, **vars(given))


def _check_size(architecture: Architecture, shape: tuple[int, ...], outputs: int) -> None:
    """Raise UserError if a network cannot be built, or its parameters exceed the memory. None is allocated."""
    try:
        with torch.random.fork_rng(devices=[]), torch.device("meta"):
            dim = sum(parameter.numel() for parameter in architecture.build(shape, outputs).parameters())
    except (RuntimeError, TypeError, OverflowError, ZeroDivisionError) as error:
        raise UserError(f"network: there is no {architecture.name} for samples of shape {shape} ({error})") from error
    require_memory(4 * 4 * dim, f"network: a {architecture.name} of {dim:,} parameters", "take a smaller one")


class Network(Problem):
    """A torch module as a function of its flat parameters: x (d,) is all of them in the order of ``parameters()``.

    train, test, validation: Samples (the last two may be None). build: called without arguments, it gives a fresh
    module, which torch's global generator initialises. partition: rows of each client, or None. options: of
    `fedatlas.federation.problems.network.NeuralNetwork`; those that say how data and module are made have no effect here.

    The l2 term is weight decay, as torch's SGD has it: part of every gradient that an algorithm sees. The metric
    ``loss`` contains it, ``test_loss`` does not. Minibatches are augmented; full gradients and evaluations see images
    as they are.

    On a processor, gradients are computed on one intra-op thread, for which ``prepare_threads`` sets torch
    process-wide: what is parallel are clients, and no number of threads changes a bit. On a GPU, the minibatches of a
    block of clients are computed in one pass, with the same bits whenever the block is the same. Raises UserError if
    the module has buffers, which would be state outside x, or layers that draw random numbers.
    """

    def __init__(
        self,
        train: Samples,
        build: Callable[[], nn.Module],
        test: Samples | None = None,
        partition: "Partition | None" = None,
        validation: Samples | None = None,
        **options: Any,
    ) -> None:
        given = NeuralNetwork(**options)
        self.train, self.build, self.partition = train, build, partition
        self.others = {
            name: part for name, part in {"test": test, "validation": validation}.items() if part is not None
        }
        self.loss, self.l2, self.start_scale = LOSSES[given.loss], float(given.l2), given.start_scale
        self.samples, self.augmentation = len(train), given.augmentation
        self.variants = self.augmentation.variants if self.augmentation else 1
        self.module = self._built(0)
        check(self.module)
        self.dim = len(flatten(self.module))
        self._threads = threading.local()
        self._pool: ThreadPoolExecutor | None = None
        self._block_rows = 1
        if self.train.device.type != "cpu" and self.stacked.runs(*self.train.gather(self.train.index([0]))):
            self._block_rows = max(1, min(STACK, STACK_BYTES // (self.dim * self.train.dtype.itemsize)))
        rows = evaluation_rows(self.samples, given.eval_samples)
        self._evaluated = train.index(np.arange(self.samples) if rows is None else rows)

    def _built(self, seed: int) -> nn.Module:
        with torch.random.fork_rng(devices=[]):
            torch.random.default_generator.manual_seed(seed)
            return self.build().to(self.train.device, self.train.dtype)

    @property
    def block_rows(self) -> int:
        """One on a processor, which a client's network fills by itself; on a GPU, as many as go into one pass."""
        return self._block_rows

    @property
    def labels(self) -> np.ndarray:
        """Labels of the training data: (n,)."""
        return self.train.y.cpu().numpy()

    def constants(self) -> dict[str, float]:
        """mu = l2, where that is positive: the convexity that weight decay gives."""
        return {"mu": self.l2} if self.l2 > 0 else {}

    def start(self, seed: int) -> Tensor:
        """First point x0 (d,)."""
        draw = stream(seed, "start")
        if self.start_scale is None:
            return flatten(self._built(int(draw.integers(2**63))))
        x = self.start_scale * draw.standard_normal(self.dim)
        return torch.as_tensor(x, dtype=self.train.dtype, device=self.train.device)

    def prepare_threads(self, threads: int) -> None:
        """Set torch to one intra-op thread, and hold this many for evaluations."""
        torch.set_num_threads(1)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def memory(self, batch: int, clients: int) -> dict[str, int]:
        """Bytes of training and test data, and of the outputs of layers for a minibatch, forward and backward."""
        data = sum(samples.nbytes for samples in (self.train, *self.others.values()))
        outputs = activations(self.module, self.train)
        training, evaluation = 2 * batch * sum(outputs), 3 * min(CHUNK, len(self._evaluated)) * max(outputs)
        replica = 2 * self.dim * self.train.dtype.itemsize
        return {"data": data, "activations": clients * (max(training, evaluation) + replica)}

    def free_memory(self) -> int:
        """Bytes that are free on the device."""
        return devices.free(self.train.device)

    @property
    def replica(self) -> Replica:
        """This thread's own copy of the module."""
        if not hasattr(self._threads, "replica"):
            self._threads.replica = Replica(self.module)
        return self._threads.replica

    @property
    def stacked(self) -> Stacked:
        """This thread's own stack of copies of the module."""
        if not hasattr(self._threads, "stacked"):
            self._threads.stacked = Stacked(self.module, self.loss)
        return self._threads.stacked

    def batch(self, clients: np.ndarray, index: np.ndarray) -> "Rows":
        """Minibatches of a block of clients. clients: (m,) ids. index: (m, b) draws."""
        return Rows(self, list(self.train.index(index)))

    def seen(self, draws: Tensor) -> tuple[Tensor, Tensor]:
        """What the network sees of draws (b,), augmented as they say, and the labels."""
        if self.augmentation is None:
            return self.train.gather(draws)
        data, labels = self.train.gather(draws % self.samples)
        return augment(data, draws // self.samples, self.augmentation.crop), labels

    def full_batch(self, clients: np.ndarray) -> "Rows":
        """All data of each of a block of clients (m,)."""
        if self.partition is None:
            return Rows(self, [self.train.index(np.arange(self.samples))] * len(clients))
        return Rows(self, [self.train.index(self.partition.client(int(i))) for i in clients])

    def evaluate(self, x: Tensor) -> dict[str, float]:
        """Metrics at x (d,)."""
        loss, accuracy = self._score(x, self.train, self._evaluated)
        metrics = {"loss": loss + self.l2 / 2 * float(x @ x), "accuracy": accuracy}
        for name, part in self.others.items():
            metrics[f"{name}_loss"], metrics[f"{name}_accuracy"] = self._score(
                x, part, part.index(np.arange(len(part)))
            )
        return metrics

    def _score(self, x: Tensor, samples: Samples, rows: Tensor) -> tuple[float, float]:
        """Mean loss and accuracy on rows of samples."""

        def work(part: Tensor) -> tuple[float, int]:
            data, labels = samples.gather(part)
            z = self.replica.outputs(x, data)
            return float(self.loss.losses(z, labels).double().sum()), int(self.loss.correct(z, labels).sum())

        done = list((self._pool.map if self._pool else map)(work, rows.split(CHUNK)))
        return sum(loss for loss, _ in done) / len(rows), sum(correct for _, correct in done) / len(rows)


class Rows:
    """Samples of m clients. rows: their draws, m tensors (b,), which may differ in length: rows of data, of augmented
    data plus the number of rows times the variant."""

    def __init__(self, problem: Network, rows: list[Tensor]) -> None:
        self.problem, self.rows = problem, rows
        self.size = np.array([len(own) for own in rows])
        self._kept: dict[int, list[tuple[Tensor, Tensor]]] = {}
        self._stack: tuple[Tensor, ...] = ()

    def _batches(self, place: int) -> Iterable[tuple[Tensor, Tensor]]:
        rows = self.rows[place]
        if len(rows) > CHUNK:
            return map(self.problem.seen, rows.split(CHUNK))
        if place not in self._kept:
            self._kept[place] = [self.problem.seen(rows)]
        return self._kept[place]

    @property
    def stackable(self) -> bool:
        """Whether the gradients of all m clients are computed in one pass."""
        return self.problem.block_rows > 1 and len(self.rows[0]) <= CHUNK and len({len(own) for own in self.rows}) == 1

    def _together(self, y: Tensor) -> tuple[Tensor, Tensor]:
        """Losses without l2 (m,) and gradients with it (m, d), in one pass."""
        problem, m = self.problem, len(self.rows)
        if not self._stack:
            data, labels = problem.seen(torch.cat(self.rows))
            self._stack = (data.unflatten(0, (m, -1)), labels.view(m, -1))
        y = arrays.rows(y, m)
        values, grads = problem.stacked.value_and_grad(y, *self._stack)
        return values.clone(), torch.add(grads, y, alpha=problem.l2) if problem.l2 else grads.clone()

    def _one_by_one(self, y: Tensor) -> tuple[Tensor, Tensor]:
        """As ``_together``, client by client."""
        problem, values, grads = self.problem, [], []
        for place, own in enumerate(arrays.rows(y, len(self.rows))):
            value, grad = problem.replica.value_and_grad(own, self._batches(place), problem.loss, len(self.rows[place]))
            values.append(value)
            grads.append(torch.add(grad, own, alpha=problem.l2) if problem.l2 else grad.clone())
        return _stack(values), _stack(grads)

    def grad(self, y: Tensor) -> Tensor:
        """Gradients (m, d)."""
        return (self._together(y) if self.stackable else self._one_by_one(y))[1]

    def value_and_grad(self, y: Tensor) -> tuple[Tensor, Tensor]:
        """Losses (m, 1) and gradients (m, d)."""
        values, grads = self._together(y) if self.stackable else self._one_by_one(y)
        values = values[:, None]
        if self.problem.l2:
            values = values + self.problem.l2 / 2 * arrays.dot(y, y)
        return values, grads


def _stack(vectors: list[Tensor]) -> Tensor:
    return vectors[0][None] if len(vectors) == 1 else torch.stack(vectors)
