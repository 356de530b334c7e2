"""Networks as flat-vector oracles: any torch module that is a function of its parameters alone."""

import functools
import threading
import time
from collections.abc import Callable, Sequence
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
from fedatlas.federation.networks.batch import CHUNK, NetworkBatch, augment
from fedatlas.federation.networks.dropout import KEYS
from fedatlas.federation.networks.losses import LOSSES, OwnLoss
from fedatlas.federation.networks.replica import Replica, flatten, trained_parameters, validate
from fedatlas.federation.networks.samples import Samples, channel_moments
from fedatlas.federation.networks.stacked import Stacked
from fedatlas.federation.problems.base import evaluation_rows
from fedatlas.federation.problems.network import NeuralNetwork
from fedatlas.federation.problems.rows import RowProblem
from fedatlas.federation.streams import stream
from fedatlas.io.machine import require_memory

if TYPE_CHECKING:
    from fedatlas.data.dataset import Dataset
    from fedatlas.federation.partitions.partition import Partition

STACK_BYTES = 2**30  # of the parameters of clients that a GPU computes in one pass
STACK = 64  # clients of such a pass at most
DRAWS = threading.Lock()  # modules draw their starts from torch's one generator, which threads share


class Network(RowProblem):
    """A torch module as a function of its flat parameters: x (d,) is all that are trained, in the module's order.

    Parameters whose ``requires_grad`` is off are not part of x. They have the values that ``build`` gives them first,
    the same in all runs, lie in memory once, and are neither sent nor counted. So do buffers, which must be constants.

    The l2 term is weight decay, as torch's SGD has it: part of every gradient that an algorithm sees, and the same for
    all clients, whatever their weights. The metric ``loss`` contains it, ``test_loss`` does not. Minibatches are
    augmented and pass dropout, with masks that a sample's draw determines; full gradients and evaluations see images as
    they are and drop nothing.

    On a processor, gradients are computed on one intra-op thread, for which ``prepare_threads`` sets torch
    process-wide: what is parallel are clients, and no number of threads changes a bit. On a GPU, the minibatches of a
    block of clients are computed in one pass, with the same bits whenever the block is the same.

    Args:
        train: Training samples.
        build: Function without arguments that returns a fresh module, which torch's global generator initialises.
        test: Test samples, or None.
        partition: Rows of each client, or None where all clients draw from all rows.
        validation: Samples that are held out, or None.
        loss: Name of a loss, or a function of scores and labels that returns the loss of each sample, (b,).
        **options: Options of `NeuralNetwork`; those that say how to build data and module have no effect here.

    Raises:
        UserError: The module changes a buffer, or draws random numbers by other layers than dropout.
    """

    def __init__(
        self,
        train: Samples,
        build: Callable[[], nn.Module],
        test: Samples | None = None,
        partition: "Partition | None" = None,
        validation: Samples | None = None,
        loss: str | Callable[[Tensor, Tensor], Tensor] = "cross-entropy",
        **options: Any,
    ) -> None:
        settings = NeuralNetwork(**options if callable(loss) else {"loss": loss, **options})
        self.train, self.build, self.partition = train, build, partition
        self.held_out = {
            name: part for name, part in {"test": test, "validation": validation}.items() if part is not None
        }
        self.loss = OwnLoss(loss) if callable(loss) else LOSSES[settings.loss]
        self.l2, self.start_scale = float(settings.l2), settings.start_scale
        self.samples, self.augmentation = len(train), settings.augmentation
        self.module = self._fresh_module(0)
        self.drops = validate(self.module, self.train, self.loss)
        self._images = self.augmentation.variants if self.augmentation else 1
        self.variants = self._images * (KEYS if self.drops else 1)
        self.dim = len(flatten(self.module))
        self._threads = threading.local()
        self._pool: ThreadPoolExecutor | None = None
        self._block_rows = 1
        if self.train.device.type != "cpu" and self.stacked.runs(*self.inputs(self.train.index([0]))):
            self._block_rows = max(1, min(STACK, STACK_BYTES // (self.dim * self.train.dtype.itemsize)))
        self.weights, self.eval_samples = settings.weights, settings.eval_samples

    @functools.cached_property
    def _evaluation_rows(self) -> Tensor:
        """Training rows that are evaluated."""
        rows = evaluation_rows(self.samples, self.eval_samples, self.row_weights)
        return self.train.index(np.arange(self.samples) if rows is None else rows)

    @functools.cached_property
    def _evaluation_weights(self) -> Tensor | None:
        """Weights of the rows that are evaluated, in float64 and of mean 1, or None if all are 1."""
        if self.row_weights is None:
            return None
        weights = torch.as_tensor(self.row_weights, device=self.train.device)[self._evaluation_rows]
        return weights / weights.mean()

    @functools.cached_property
    def _factors(self) -> Tensor | None:
        """Factors of the clients' losses, (clients, 1), or None if all are 1."""
        return None if self.client_factors is None else self.train.tensor(self.client_factors)[:, None]

    def factors(self, clients: np.ndarray) -> Tensor | None:
        """Return the factors of the losses of clients (m,), (m, 1), or None if all are 1."""
        return None if self._factors is None else self._factors[self.train.index(clients)]

    def _fresh_module(self, seed: int) -> nn.Module:
        with DRAWS, torch.random.fork_rng(devices=[]):
            torch.random.default_generator.manual_seed(seed)
            return self.build().to(self.train.device, self.train.dtype)

    @property
    def block_rows(self) -> int:
        """Clients of a block: one on a processor, which its network fills; on a GPU, as many as go into one pass."""
        return self._block_rows

    @property
    def labels(self) -> np.ndarray | None:
        """Classes of the training data, (n,), or None for an own loss, whose labels may be none."""
        return None if isinstance(self.loss, OwnLoss) else self.train.y.cpu().numpy()

    def constants(self) -> dict[str, float]:
        """Return mu = l2, the convexity that weight decay gives, where it is positive, and ``head``.

        ``head`` is the number of parameters of the layer that the module declares last, the last coordinates of x, if
        there are others.
        """
        layers = {  # a parameter that several layers share belongs to the first of them, as in ``parameters()``
            parameter: layer for layer in reversed([*self.module.modules()]) for parameter in layer.parameters(False)
        }
        parameters = trained_parameters(self.module)
        head = sum(p.numel() for p in parameters if layers[p] is layers[parameters[-1]])
        return ({"mu": self.l2} if self.l2 > 0 else {}) | ({"head": head} if head < self.dim else {})

    def start(self, seed: int) -> Tensor:
        """Return the start x0, (d,)."""
        draw = stream(seed, "start")
        if self.start_scale is None:
            return flatten(self._fresh_module(int(draw.integers(2**63))))
        x = torch.as_tensor(self.start_scale * draw.standard_normal(self.dim), dtype=self.train.dtype)
        return x.to(self.train.device)

    def clock(self) -> float:
        """Return the time of this process on all its processors; on a GPU, the time on the wall."""
        return super().clock() if self.train.device.type == "cpu" else time.perf_counter()

    def prepare_threads(self, threads: int) -> None:
        """Set torch to one intra-op thread, and hold this many for evaluations."""
        torch.set_num_threads(1)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    @property
    def replica(self) -> Replica:
        """This thread's own copy of the module."""
        if not hasattr(self._threads, "replica"):
            fused = not isinstance(self.loss, OwnLoss)
            self._threads.replica = Replica(self.module, self.train.shape, fused, self.drops)
        return self._threads.replica

    @property
    def stacked(self) -> Stacked:
        """This thread's own stack of copies of the module."""
        if not hasattr(self._threads, "stacked"):
            self._threads.stacked = Stacked(self.module, self.loss)
        return self._threads.stacked

    def batch(self, clients: np.ndarray, index: np.ndarray) -> NetworkBatch:
        """Return the minibatches of a block of clients, (m,) ids, from their draws, (m, b)."""
        return NetworkBatch(self, list(self.train.index(index)), self.factors(clients))

    def inputs(self, draws: Tensor) -> tuple[Tensor, ...]:
        """Return augmented data for draws, (b,), labels, (b,), and where there is dropout keys of its masks, (b,)."""
        if self.variants == 1:
            return self.train.gather(draws)
        variants = draws // self.samples
        data, labels = self.train.gather(draws % self.samples)
        if self.augmentation is not None:
            data = augment(data, variants % self._images, self.augmentation.crop)
        return (data, labels, variants // self._images) if self.drops else (data, labels)

    def full_batch(self, clients: np.ndarray) -> NetworkBatch:
        """Return all data of each client of a block, (m,) ids."""
        if self.partition is None:
            return NetworkBatch(self, [self.train.index(np.arange(self.samples))] * len(clients))
        rows = [self.train.index(self.partition.client(int(i))) for i in clients]
        return NetworkBatch(self, rows, self.factors(clients))

    def evaluate(self, x: Tensor) -> dict[str, float]:
        """Return the metrics at x, (d,)."""
        loss, accuracy = self._score(x, self.train, self._evaluation_rows, self._evaluation_weights)
        metrics = {"loss": loss + self._penalty(x), "accuracy": accuracy}
        for name, part in self.held_out.items():
            metrics[f"{name}_loss"], metrics[f"{name}_accuracy"] = self._score(
                x, part, part.index(np.arange(len(part)))
            )
        custom = isinstance(self.loss, OwnLoss)
        return {name: value for name, value in metrics.items() if not (custom and name.endswith("accuracy"))}

    def evaluate_clients(self, y: Tensor, clients: np.ndarray, names: Sequence[str]) -> dict[str, np.ndarray]:
        if isinstance(self.loss, OwnLoss) and (wrong := [name for name in names if name.endswith("accuracy")]):
            raise UserError(f"metrics: a loss of your own has no {wrong[0]}: leave {wrong[0]}_clients_... out")
        return super().evaluate_clients(y, clients, names)

    def row_scores(self, x: Tensor, part: str, rows: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        samples = self.train if part == "train" else self.held_out[part]
        losses, correct = [], []
        for chunk in samples.index(np.arange(len(samples)) if rows is None else rows).split(CHUNK):
            z, labels = self.replica.outputs(x, samples, chunk), samples.y[chunk]
            losses.append(self.loss.losses(z, labels).double())
            correct.append(self.loss.correct(z, labels))
        penalty = self._penalty(x) if part == "train" else 0.0
        return arrays.to_numpy(torch.cat(losses)) + penalty, arrays.to_numpy(torch.cat(correct))

    def _penalty(self, x: Tensor) -> float:
        return self.l2 / 2 * float(x @ x)

    def _score(self, x: Tensor, samples: Samples, rows: Tensor, weights: Tensor | None = None) -> tuple[float, float]:
        """Return mean loss and accuracy on rows of samples; losses have weights (rows,) of mean 1, or None for 1."""

        def work(part: Tensor, weights: Tensor | None) -> tuple[float, float]:
            z, labels = self.replica.outputs(x, samples, part), samples.y[part]
            losses = self.loss.losses(z, labels).double()
            total = losses.sum() if weights is None else losses @ weights
            return float(total), float(self.loss.correct(z, labels).sum())

        parts = rows.split(CHUNK)
        weights_of_parts = [None] * len(parts) if weights is None else weights.split(CHUNK)
        done = list((self._pool.map if self._pool else map)(work, parts, weights_of_parts))
        return sum(loss for loss, _ in done) / len(rows), sum(correct for _, correct in done) / len(rows)


def on_data(options: NeuralNetwork, train: "Dataset", test: "Dataset | None", partition: "Partition | None") -> Network:
    """Build a Network on prepared data; arguments after the options as of ``NeuralNetwork.build``."""
    device = devices.choose(options.device)
    devices.prepare(device, options.precision)
    images = train.X.ndim == 4
    if options.augment is not None and not images:
        raise UserError("network: augment is for images, which these data are not: leave it out")
    shift: ArrayLike | None = None
    scale: ArrayLike | None = None
    if images:
        shift, scale = channel_moments(train.X) if options.normalise else (None, 1 / train.scale)
    X, y = (test.X, test.y) if test is not None else (train.X_test, train.y_test)
    samples = Samples(train.X, train.y, shift, scale, options.dtype, device)
    held_out = None if X is None or y is None else Samples(X, y, shift, scale, options.dtype, device)
    X, y = train.X_validation, train.y_validation
    validation = None if y is None else Samples(X, y, shift, scale, options.dtype, device)
    outputs = 1 if options.loss == "logistic" else train.classes
    architecture, shape = options.architecture_kind, tuple(train.X.shape[1:])
    _validate_size(architecture, shape, outputs)
    build = functools.partial(architecture.build, shape, outputs)
    return Network(samples, build, held_out, partition, validation, **vars(options))


def _validate_size(architecture: Architecture, shape: tuple[int, ...], outputs: int) -> None:
    """Raise UserError if a network cannot be built, or its parameters exceed the memory. None is allocated."""
    try:
        with DRAWS, torch.random.fork_rng(devices=[]), torch.device("meta"):
            dim = sum(parameter.numel() for parameter in architecture.build(shape, outputs).parameters())
    except (RuntimeError, TypeError, OverflowError, ZeroDivisionError) as error:
        raise UserError(f"network: there is no {architecture.name} for samples of shape {shape} ({error})") from error
    require_memory(4 * 4 * dim, f"network: a {architecture.name} of {dim:,} parameters", "take a smaller one")
