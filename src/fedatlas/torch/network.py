"""Networks as flat-vector oracles: any torch module that is a function of its parameters alone."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch.nn import functional as F

from fedatlas import architectures as networks
from fedatlas import arrays
from fedatlas.errors import UserError
from fedatlas.problems.base import Problem
from fedatlas.registry import construct, lookup
from fedatlas.streams import stream
from fedatlas.torch import device as devices
from fedatlas.torch.augment import Augment
from fedatlas.torch.replica import Replica, activations, check, flatten
from fedatlas.torch.samples import Samples, channel_moments

CHUNK = 1000  # rows that go through the module at once where they are not one minibatch


class CrossEntropy:
    """Softmax cross-entropy of class scores z (b, classes)."""

    @staticmethod
    def outputs(classes):
        return classes

    @staticmethod
    def losses(z, y):
        return F.cross_entropy(z, y, reduction="none")

    @staticmethod
    def slopes(z, y):
        """Losses (b,), and their derivatives by the scores (b, classes)."""
        logarithms, own = F.log_softmax(z, dim=1), y[:, None]
        slopes = logarithms.exp()
        return -logarithms.gather(1, own)[:, 0], slopes.scatter_add_(1, own, slopes.new_full(own.shape, -1.0))

    @staticmethod
    def correct(z, y):
        return z.argmax(dim=1) == y


class LogisticLoss:
    """log(1 + exp(-z)) for label 1 and log(1 + exp(z)) for label 0, of one score z (b, 1)."""

    @staticmethod
    def outputs(classes):
        if classes != 2:
            raise UserError(f"network: the loss 'logistic' needs two classes, the data have {classes}")
        return 1

    @staticmethod
    def losses(z, y):
        return -F.logsigmoid((2 * y - 1) * z[:, 0])  # not softplus, which is off by 2e-9 above 20

    @staticmethod
    def slopes(z, y):
        """Losses (b,), and their derivatives by the scores (b, 1)."""
        sign = (2 * y - 1)[:, None]
        return LogisticLoss.losses(z, y), -sign * torch.sigmoid(-sign * z)

    @staticmethod
    def correct(z, y):
        return (z[:, 0] > 0) == (y > 0)


LOSSES = {"cross-entropy": CrossEntropy, "logistic": LogisticLoss}


class Network(Problem):
    """A torch module as a function of its flat parameters: x (d,) is all of them in the order of ``parameters()``.

    train, test: Samples (test may be None). build: called without arguments, gives a fresh module, which torch's
    global generator initialises. loss: ``cross-entropy``, or ``logistic`` for two classes and one output. l2: adds
    l2/2 |x|^2 to the loss and l2 x to its gradient (weight decay, as torch's SGD has it: part of every gradient that an
    algorithm sees). The metric ``loss`` contains it, ``test_loss`` does not. partition: rows of each client, or None.
    start_scale: None for the module's own initialisation, else x0 ~ N(0, start_scale^2). eval_samples: the training
    rows that are evaluated, a subset that is the same in all runs; or ``all``. augment: an Augment for minibatches,
    or None; full gradients and evaluations see images as they are.

    Gradients are computed on one intra-op thread, for which ``prepare_threads`` sets torch process-wide: what is
    parallel are clients, and no number of threads changes a bit. Raises UserError if the module has buffers, which
    would be state outside x, or layers that draw random numbers.
    """

    block_rows = 1

    def __init__(
        self,
        train,
        build,
        test=None,
        loss="cross-entropy",
        l2=0.0,
        partition=None,
        start_scale=None,
        eval_samples=10_000,
        augment=None,
    ):
        self.train, self.test, self.build = train, test, build
        self.loss, self.l2, self.partition = lookup("loss", loss, LOSSES), float(l2), partition
        self.start_scale, self.samples, self.augment = start_scale, len(train), augment
        self.variants = augment.variants if augment else 1
        self.module = self._built(0)
        check(self.module)
        self.dim = len(flatten(self.module))
        self._threads, self._pool = threading.local(), None
        rows = np.arange(self.samples)
        if eval_samples != "all" and eval_samples < self.samples:
            rows = np.sort(stream(0, "evaluation").choice(self.samples, eval_samples, replace=False))
        self._evaluated = train.index(rows)
        self._tested = None if test is None else test.index(np.arange(len(test)))

    @classmethod
    def from_data(
        cls,
        data,
        test,
        partition,
        architecture="mlp",
        loss="cross-entropy",
        l2=0.0,
        normalise=True,
        dtype="float32",
        device="cpu",
        precision="float32",
        augment=None,
        start_scale=None,
        eval_samples=10_000,
    ):
        """From prepared Datasets. test: another Dataset; by default the test part of data, if it has one.

        architecture: a specification, see ``networks``. normalise: subtract each channel's mean over the training
        images and divide by its standard deviation; otherwise images are scaled to [0, 1]. Data that are not images
        are taken as they are. dtype: of parameters and computation. device: ``cpu``, ``cuda`` or ``auto``. precision:
        ``float32``, ``tf32`` or ``bf16``, see ``networks.device``. augment: options of an Augment, or None.
        """
        place = devices.choose(device)
        devices.prepare(place, precision, dtype)
        if augment is not None:
            if data.X.ndim != 4:
                raise UserError("network: augment is for images, which these data are not: leave it out")
            augment = construct("augment", Augment, augment)
        shift = scale = None
        if data.X.ndim == 4:
            shift, scale = channel_moments(data.X) if normalise else (None, 1 / data.scale)
        held_out = (test.X, test.y) if test is not None else (data.X_test, data.y_test)
        train = Samples(data.X, data.y, shift, scale, dtype, place)
        test = None if held_out[0] is None else Samples(*held_out, shift, scale, dtype, place)
        outputs = lookup("loss", loss, LOSSES).outputs(data.classes)
        made, shape = networks.create(architecture), tuple(data.X.shape[1:])

        def build():
            module = made.build(shape, outputs)
            return devices.Autocast(module) if precision == "bf16" else module

        return cls(train, build, test, loss, l2, partition, start_scale, eval_samples, augment)

    @classmethod
    def provenance(cls, spec):
        """The device, by name, and torch's version."""
        return {"device": devices.describe(spec.get("device", "cpu")), "torch": torch.__version__}

    def _built(self, seed):
        with torch.random.fork_rng(devices=[]):
            torch.random.default_generator.manual_seed(seed)
            return self.build().to(self.train.device, self.train.dtype)

    @property
    def labels(self):
        return self.train.y.cpu().numpy()

    def constants(self):
        return {"mu": self.l2} if self.l2 > 0 else {}

    def start(self, seed):
        draw = stream(seed, "start")
        if self.start_scale is None:
            return flatten(self._built(int(draw.integers(2**63))))
        x = self.start_scale * draw.standard_normal(self.dim)
        return torch.as_tensor(x, dtype=self.train.dtype, device=self.train.device)

    def prepare_threads(self, threads):
        torch.set_num_threads(1)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def memory(self, batch, threads):
        """Bytes of training and test data, and of what layers put out for a minibatch forward and backward."""
        data = sum(samples.nbytes for samples in (self.train, self.test) if samples is not None)
        outputs = activations(self.module, self.train)
        training, evaluation = 2 * batch * sum(outputs), 3 * min(CHUNK, len(self._evaluated)) * max(outputs)
        replica = 2 * self.dim * self.train.dtype.itemsize
        return {"data": data, "activations": threads * (max(training, evaluation) + replica)}

    def free_memory(self):
        return devices.free(self.train.device)

    @property
    def replica(self):
        """This thread's own copy of the module."""
        if not hasattr(self._threads, "replica"):
            self._threads.replica = Replica(self.module)
        return self._threads.replica

    def batch(self, clients, index):
        return Rows(self, list(self.train.index(index)))

    def seen(self, draws):
        """What the network sees of draws (b,), augmented as they say, and the labels."""
        if self.augment is None:
            return self.train.gather(draws)
        data, labels = self.train.gather(draws % self.samples)
        return self.augment(data, draws // self.samples), labels

    def full_batch(self, clients):
        if self.partition is None:
            return Rows(self, [self.train.index(np.arange(self.samples))] * len(clients))
        return Rows(self, [self.train.index(self.partition.client(int(i))) for i in clients])

    def evaluate(self, x):
        loss, accuracy = self._score(x, self.train, self._evaluated)
        metrics = {"loss": loss + self.l2 / 2 * float(x @ x), "accuracy": accuracy}
        if self.test is not None:
            metrics["test_loss"], metrics["test_accuracy"] = self._score(x, self.test, self._tested)
        return metrics

    def _score(self, x, samples, rows):
        """Mean loss and accuracy on rows of samples."""

        def work(part):
            data, labels = samples.gather(part)
            z = self.replica.outputs(x, data)
            return float(self.loss.losses(z, labels).double().sum()), int(self.loss.correct(z, labels).sum())

        done = list((self._pool.map if self._pool else map)(work, rows.split(CHUNK)))
        return sum(loss for loss, _ in done) / len(rows), sum(correct for _, correct in done) / len(rows)


class Rows:
    """Samples of m clients. rows: their draws, m tensors (b,), which may differ in length: rows of data, of augmented
    data plus the number of rows times the variant."""

    def __init__(self, problem, rows):
        self.problem, self.rows = problem, rows
        self.size = np.array([len(own) for own in rows])
        self._kept = {}

    def _batches(self, place):
        rows = self.rows[place]
        if len(rows) > CHUNK:
            return map(self.problem.seen, rows.split(CHUNK))
        if place not in self._kept:
            self._kept[place] = [self.problem.seen(rows)]
        return self._kept[place]

    def _each(self, y):
        """(loss without l2, gradient) of each client."""
        problem = self.problem
        for place, own in enumerate(arrays.rows(y, len(self.rows))):
            value, grad = problem.replica.value_and_grad(own, self._batches(place), problem.loss, len(self.rows[place]))
            yield value, torch.add(grad, own, alpha=problem.l2) if problem.l2 else grad.clone()

    def grad(self, y):
        return _stack([grad for _, grad in self._each(y)])

    def value_and_grad(self, y):
        values, grads = zip(*self._each(y), strict=True)
        values = _stack(values)[:, None]
        if self.problem.l2:
            values = values + self.problem.l2 / 2 * arrays.dot(y, y)
        return values, _stack(grads)


def _stack(vectors):
    return vectors[0][None] if len(vectors) == 1 else torch.stack(vectors)
