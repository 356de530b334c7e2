"""A check that an algorithm computes what its paper's pseudocode says.

A transcription is the pseudocode in Python, slow and plain, line by line, for one client and one vector at a time. It
is a generator that yields the evaluated vector after each round. It reads what it needs of a run from a `PlainRun`; its
other arguments are the algorithm's hyper-parameters. It uses nothing of the algorithm.

A study has its transcriptions in the folder ``transcriptions`` beside ``extensions``, those of the atlas lie in
``tests/transcriptions`` of its repository. The file of an algorithm is called like it; other files of the folder are
looked through after that. In the file, ``@transcription("my_algorithm")`` stands above the function.
"""

import dataclasses
import functools
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.testing import instances
from fedatlas.testing.implementation import Implementation
from fedatlas.testing.outcomes import PACKAGE, Failed, NotApplicable, describe_error, display_path
from fedatlas.testing.plain_run import PlainQuadraticRun, PlainRun

ROUNDS = 6
CONDITIONS: dict[str, dict[str, Any]] = {
    "all clients": {},
    "3 of 5 clients in a round": {"participation": {"kind": "uniform", "count": 3}},
    "rounds without clients": {"participation": {"kind": "stationary", "p": 0.3}},
    "full gradients": {"batch": None},
    "one local step": {"local_steps": 1},
}
Function = TypeVar("Function", bound=Callable[..., Iterator[Any]])


def transcription(*names: str) -> Callable[[Function], Function]:
    """Mark a generator as the transcription of the algorithms of these names."""

    def mark(function: Function) -> Function:
        function.transcribes = names  # type: ignore[attr-defined]
        return function

    return mark


def folders() -> list[Path]:
    """Where transcriptions are looked for: those of the study in the working directory, then those of the atlas."""
    return [Path("transcriptions").resolve(), PACKAGE.parents[1] / "tests/transcriptions"]


def find(name: str) -> Callable[..., Iterator[Any]] | None:
    """The transcription of an algorithm, or None. Raises Failed if a file that may hold it cannot be imported."""
    for folder in folders():
        own = folder / f"{name.replace('-', '_').replace('+', '')}.py"
        others = (path for path in sorted(folder.glob("[!_]*.py")) if path != own)
        for path in (own, *others):
            if path.is_file() and (found := _marked(path, path.stat().st_mtime_ns).get(name)):
                return found
    return None


@functools.cache
def _marked(path: Path, _changed: int) -> dict[str, Callable[..., Iterator[Any]]]:
    """The transcriptions of a file, by names of algorithms."""
    spec = importlib.util.spec_from_file_location(f"transcription of {path.stem}", path)
    assert spec is not None and spec.loader is not None  # of a file that ends with .py
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise Failed(f"The transcription cannot be imported: {describe_error(error)}") from error
    functions = [one for one in vars(module).values() if callable(one) and hasattr(one, "transcribes")]
    return {name: one for one in functions for name in one.transcribes}


def agreement(implementation: Implementation) -> None:
    """Each round gives the vector that a transcription of the paper's pseudocode gives."""
    found = find(implementation.name)
    if found is None:
        raise NotApplicable(how_to_write(implementation))
    proximal = implementation.cls.exact_prox
    for shared, kind in ((False, "clients with different data"), (True, "clients that share all data")):
        problem = _problem(proximal, shared)
        for words, options in CONDITIONS.items():
            settings = {"rounds": ROUNDS, "eval_rounds": 1, "seed": 3, **options}
            try:
                simulation = implementation.simulate(problem, **settings)
            except NotApplicable:
                continue
            _compare(simulation, found, PlainQuadraticRun if proximal else PlainRun, f"{kind}, {words}")


@functools.cache
def _problem(proximal: bool, shared: bool) -> Any:
    if proximal:
        return instances.quadratic(heterogeneity=0.0, similarity=0.0) if shared else instances.quadratic()
    return instances.logistic(heterogeneous=not shared)


def _compare(simulation: Simulation, function: Callable[..., Iterator[Any]], run: type[PlainRun], words: str) -> None:
    """Raise Failed if a simulation and a transcription differ after some round. words: where, for the sentence."""
    algorithm: Any = simulation.algorithm
    setting = simulation.setting
    values = {one.name: getattr(algorithm, one.name) for one in dataclasses.fields(algorithm)}
    where = f"{function.__name__} in {display_path(function.__code__.co_filename)}, with {words}"
    try:
        yielded = function(run(simulation.problem, setting, simulation.seed, algorithm.name), **values)
        with np.errstate(all="ignore"):
            expected = [np.array(vector) for vector in yielded]
    except Exception as error:
        call = f"it is called with {', '.join(['run', *values])}"
        raise Failed(f"The transcription breaks ({where}; {call}): {describe_error(error)}") from error
    if len(expected) != setting.total_rounds:
        what = f"The transcription yields {len(expected)} vectors in {setting.total_rounds} rounds ({where})"
        raise Failed(f"{what}: yield the output after every round, also after one without clients.")
    for round, vector in enumerate(expected, start=1):
        with np.errstate(all="ignore"):
            simulation.run_round()
        ours = to_numpy(simulation.output)
        if not np.allclose(ours, vector, rtol=1e-10, atol=1e-12):
            far = np.abs(ours - vector).max()
            raise Failed(f"The output differs from the transcription by {far:.2g} after round {round} ({where}).")


def how_to_write(implementation: Implementation) -> str:
    """The sentence for an algorithm without a transcription."""
    name = implementation.name
    if sys.modules[implementation.cls.__module__].__name__.startswith("fedatlas.") and not folders()[1].is_dir():
        return "The transcriptions of the atlas's own algorithms are in its repository."
    identifier = name.replace("-", "_").replace("+", "")
    arguments = ", ".join(["run", *implementation.cls.options()])
    return (
        f"There is no transcription. Write the paper's pseudocode line by line in transcriptions/{identifier}.py: "
        f'@transcription("{name}") above `def {identifier}({arguments}):`, which yields the output after each round; '
        "docs/how-to/checking.md shows one."
    )
