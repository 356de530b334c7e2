"""Conformance test that an algorithm computes its paper's pseudocode.

A transcription is the pseudocode in Python, slow and plain, line by line, for one client and one vector at a time. It
is a generator that yields the evaluated vector after each round. Its first argument is a `PlainRun`, from which it
reads problem and draws; the others are the algorithm's hyper-parameters. It uses no code of the algorithm.

The transcriptions of a study lie in the folder ``transcriptions`` beside ``extensions``, those of built-in algorithms
in ``tests/transcriptions`` of the repository. ``@transcription("my_algorithm")`` stands above the function.
"""

import dataclasses
import functools
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.streams import random_client, stream
from fedatlas.testing import instances
from fedatlas.testing.implementation import Implementation
from fedatlas.testing.outcomes import PACKAGE, Failed, NotApplicable, describe_error, display_path

ROUNDS = 6
CONDITIONS: dict[str, dict[str, Any]] = {
    "all clients": {},
    "3 of 5 clients in a round": {"participation": {"kind": "uniform", "count": 3}},
    "rounds without clients": {"participation": {"kind": "stationary", "p": 0.3}},
    "full gradients": {"batch": None},
    "one local step": {"local_steps": 1},
}
SHARED = {label: CONDITIONS[label] for label in ("all clients", "full gradients")}  # with data that all clients share
Transcription = Callable[..., Iterator[Any]]
Function = TypeVar("Function", bound=Transcription)


class PlainRun:
    """A run on logistic regression, for one client and one vector at a time.

    Args:
        problem: Problem of the simulation.
        setting: Setting of the simulation.
        seed: Seed of the run.
        name: Name of the algorithm.

    Attributes:
        m: Number of clients.
        K: Number of local steps.
        T: Number of rounds.
        x0: Start, of shape (d,).
    """

    def __init__(self, problem: Any, setting: Any, seed: int, name: str) -> None:
        self.problem, self.setting, self.seed, self.name = problem, setting, seed, name
        self.m, self.T, self.x0 = setting.clients, setting.total_rounds, problem.start(seed)
        self.participants = setting.participation_kind.bind(problem, setting.clients, seed)
        self.sampler = setting.sampling_kind.bind(problem, setting.clients, setting.batch, seed)
        self._draw = functools.cache(lambda t, K: self.sampler.draw(t, np.arange(self.m), K))
        self.K = setting.local_steps
        if setting.local_epochs is not None:  # the problems' clients have equally many rows
            self.epoch_steps = -(-len(self._rows(0)) // setting.batch)
            self.K = setting.local_epochs * self.epoch_steps

    def S(self, t: int) -> np.ndarray:
        """Return the active clients of round t."""
        return self.participants.active(t)

    def p(self, t: int) -> np.ndarray | None:
        """Return the clients' probabilities of participation in round t."""
        return self.participants.probabilities(t)

    def decay(self, t: int) -> float:
        """Return the schedule's factor on the step size of round t."""
        return self.setting.lr_schedule.factor(t)

    def random_client(self, t: int) -> int:
        """Return a random active client of round t."""
        return self.S(t)[random_client(self.seed, t, len(self.S(t)))]

    def geometric(self, t: int, p: float) -> int:
        """Return the number of trials of probability p up to the first success, drawn for round t."""
        return int(stream(self.seed, "length", t).geometric(p))

    def server_rng(self, t: int) -> np.random.Generator:
        """Return the server's random generator of round t."""
        return stream(self.seed, "algorithm", t, 0)

    def shared_rng(self, t: int) -> np.random.Generator:
        """Return a generator that all clients share in round t."""
        return stream(self.seed, "algorithm", t, 2)

    def client_rng(self, t: int, i: int) -> np.random.Generator:
        """Return the generator of client i in round t."""
        return stream(self.seed, "algorithm", t, 3, int(i))

    def coding_rng(self, t: int, i: int) -> np.random.Generator:
        """Return the generator by which client i codes its first message of round t."""
        return stream(self.seed, "channel", t, int(i), 2, 0)

    def _rows(self, i: int) -> Any:
        return self.problem.partition.client(i) if self.problem.partition else np.arange(self.problem.samples)

    def _gradient(self, rows: Any, y: np.ndarray) -> np.ndarray:
        A, b = self.problem.A[rows], self.problem.b[rows]
        return self.problem.l2 * y - (b / (1 + np.exp(b * (A @ y)))) @ A / len(rows)

    def g(self, t: int, k: int, i: int, y: np.ndarray, K: int | None = None) -> np.ndarray:
        """Return the gradient of client i at y on its k-th minibatch of round t, a round of K minibatches."""
        return self._gradient(self._minibatch(t, k, i, K), y)

    def G(self, i: int, y: np.ndarray) -> np.ndarray:
        """Return the full gradient of client i at y."""
        return self._gradient(self._rows(i), y)

    def _minibatch(self, t: int, k: int, i: int, K: int | None = None) -> Any:
        """Return the rows of client i's k-th minibatch of round t, a round of K minibatches."""
        epochs, batch = self.setting.local_epochs, self.setting.batch
        if epochs is None:
            draws = self._draw(t, K or self.K)
            return self._rows(i) if draws is None else draws[i, k]
        rows, step = self.sampler.passes(t, np.arange(self.m), epochs)[i][k // self.epoch_steps], k % self.epoch_steps
        return rows[step * batch : (step + 1) * batch]

    def f(self, t: int, k: int, i: int, y: np.ndarray) -> float:
        """Return the loss of client i at y on its k-th minibatch of round t."""
        rows = self._minibatch(t, k, i)
        margins = self.problem.b[rows] * (self.problem.A[rows] @ y)
        return self.problem.l2 / 2 * (y @ y) + np.log(1 + np.exp(-margins)).mean()

    def share(self, t: int, k: int, i: int) -> float:
        """Return the samples of client i's k-th minibatch of round t divided by the samples of client i."""
        return len(self._minibatch(t, k, i)) / len(self._rows(i))


class PlainQuadraticRun(PlainRun):
    """A run on quadratics, which have exact proximal steps."""

    def g(self, t: int, k: int, i: int, y: np.ndarray, K: int | None = None) -> np.ndarray:
        draws = self._draw(t, K or self.K)
        return self.G(i, y) if draws is None else self.G(i, y) + sum(self.problem.noise[draws[i, k]]) / len(draws[i, k])

    def G(self, i: int, y: np.ndarray) -> np.ndarray:
        return self.problem.A[i] @ y - self.problem.b[i]

    def prox(self, i: int, v: np.ndarray, weight: float) -> np.ndarray:
        """Return the minimiser over y of f_i(y) + weight/2 |y - v|^2."""
        return np.linalg.solve(self.problem.A[i] + weight * np.eye(len(v)), self.problem.b[i] + weight * v)


def transcription(*names: str) -> Callable[[Function], Function]:
    """Mark a generator as the transcription of the algorithms of these names."""

    def mark(function: Function) -> Function:
        function.transcribes = names  # type: ignore[attr-defined]
        return function

    return mark


def find(name: str) -> Transcription | None:
    """Return the transcription of an algorithm, or None. Raises Failed if a file cannot be imported."""
    for folder in (Path("transcriptions").resolve(), PACKAGE.parents[1] / "tests/transcriptions"):
        for path in sorted(folder.glob("[!_]*.py")):
            if function := _load(path, path.stat().st_mtime_ns).get(name):
                return function
    return None


@functools.cache
def _load(path: Path, _modified: int) -> dict[str, Transcription]:
    """Return the transcriptions of a file, by name of the algorithm.

    Args:
        path: Path of the file.
        _modified: Time of its last change, so that the cache holds no older content.
    """
    spec = importlib.util.spec_from_file_location(f"transcription of {path.stem}", path)
    assert spec is not None and spec.loader is not None  # as the path ends with .py
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise Failed(f"The transcription cannot be imported: {describe_error(error)}") from error
    functions = [value for value in vars(module).values() if callable(value) and hasattr(value, "transcribes")]
    return {name: function for function in functions for name in function.transcribes}


def agreement(implementation: Implementation) -> None:
    """Each round gives the vector that a transcription of the paper's pseudocode gives."""
    function = find(implementation.name)
    if function is None:
        raise NotApplicable(
            f"There is no transcription of {implementation.name}: write the paper's pseudocode line by line, as "
            "docs/how-to/checking.md shows."
        )
    proximal = "prox" in implementation.cls.requires
    for shared, kind in ((False, "clients with different data"), (True, "clients that share all data")):
        problem = _problem(proximal, shared)
        for label, condition in (SHARED if shared else CONDITIONS).items():
            options = {"rounds": ROUNDS, "eval_rounds": 1, "seed": 3, **condition}
            try:
                simulation = implementation.simulate(problem, **options)
            except NotApplicable:
                continue
            _compare(simulation, function, PlainQuadraticRun if proximal else PlainRun, f"{kind}, {label}")


@functools.cache
def _problem(proximal: bool, shared: bool) -> Any:
    if proximal:
        return instances.quadratic(heterogeneity=0.0, similarity=0.0) if shared else instances.quadratic()
    return instances.logistic(heterogeneous=not shared)


def _compare(simulation: Simulation, function: Transcription, run_class: type[PlainRun], label: str) -> None:
    """Raise Failed if a simulation and a transcription differ after some round.

    Args:
        simulation: Simulation of the algorithm, before its first round.
        function: The transcription.
        run_class: Class of the transcription's first argument.
        label: Problem and condition, for the sentence.
    """
    algorithm: Any = simulation.algorithm
    setting = simulation.setting
    values = {field.name: getattr(algorithm, field.name) for field in dataclasses.fields(algorithm)}
    location = f"{function.__name__} in {display_path(function.__code__.co_filename)}, with {label}"
    try:
        vectors = function(run_class(simulation.problem, setting, simulation.seed, algorithm.name), **values)
        with np.errstate(all="ignore"):
            expected = [np.array(vector) for vector in vectors]
    except Exception as error:
        call = f"it is called with {', '.join(['run', *values])}"
        raise Failed(f"The transcription breaks ({location}; {call}): {describe_error(error)}") from error
    if len(expected) != setting.total_rounds:
        raise Failed(
            f"The transcription yields {len(expected)} vectors in {setting.total_rounds} rounds ({location}): yield "
            "the output after every round, also after one without clients."
        )
    for round, vector in enumerate(expected, start=1):
        with np.errstate(all="ignore"):
            simulation.run_round()
        output = to_numpy(simulation.output)
        if not np.allclose(output, vector, rtol=1e-10, atol=1e-12):
            distance = np.abs(output - vector).max()
            raise Failed(
                f"The output differs from the transcription by {distance:.2g} after round {round} ({location})."
            )
