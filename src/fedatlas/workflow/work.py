"""The work of experiments, counted from their specifications, and the time that it takes at measured rates.

An estimate for people who plan a run. No result and no job depends on it.
"""

import functools
import json
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from fedatlas.data import sources
from fedatlas.errors import UserError
from fedatlas.experiments.cells import CellSpec, Spec, has_choice
from fedatlas.experiments.runs import create_run, initial_searches, tuned_points
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.engine.setting import Setting

ROUNDS = 20  # of which the participants are counted
TELLING = 60.0  # seconds after which the start of a network weighs little
MINIBATCH = 100  # rows of the largest minibatch whose gradient is timed
Key = tuple[str, str]  # name and size of an experiment


@dataclass(frozen=True)
class Work:
    """The work of runs: their number, steps of all clients at once, steps of single clients, and operations.

    operations: products and sums within gradients. trained: seconds of the gradients of networks, one after another,
    each measured on this machine; their steps are not counted besides.
    """

    runs: int = 0
    steps: float = 0.0
    client_steps: float = 0.0
    operations: float = 0.0
    trained: float = 0.0

    def __add__(self, other: "Work") -> "Work":
        return Work(*(one + two for one, two in zip(vars(self).values(), vars(other).values(), strict=True)))

    def times(self, count: int) -> "Work":
        """The work of so many like it."""
        return Work(*(count * one for one in vars(self).values()))


def of(specs: Iterable[CellSpec]) -> Work:
    """The work of cells. The ends of tuning axes are counted where they stand, though a search may move them."""
    total = Work()
    for spec in specs:
        for search in initial_searches(spec):
            tunes = has_choice(spec.tune)
            for tuned in tuned_points(search) if tunes else [search.chosen or {}]:
                count = len(spec.tuning_seeds) if tunes else len(spec.seeds)
                run = create_run(spec, search.within, tuned, 0)
                total += _of_run(json.dumps(run.setting), json.dumps(run.problem)).times(count)
            if tunes:  # what is scored takes as long as the last value that is tried
                total += _of_run(json.dumps(run.setting), json.dumps(run.problem)).times(len(spec.seeds))
    return total


@functools.lru_cache(10_000)
def _of_run(conditions: str, spec: str) -> Work:
    setting, problem = Setting(**json.loads(conditions)), json.loads(spec)
    rows = _rows(problem) / setting.clients
    batch = rows if setting.batch is None else min(setting.batch, rows) if rows > 1 else setting.batch
    local = setting.local_steps or (setting.local_epochs or 1) * max(1.0, rows / batch)
    steps = setting.total_rounds * local
    client_steps = steps * _active(setting)
    if problem["kind"] == "network":
        return Work(1, trained=client_steps * _gradient_seconds(spec, batch))
    return Work(1, steps, client_steps, client_steps * batch * _operations(problem))


def _rows(problem: Spec) -> float:
    return sources.info(problem["data"]).rows if "data" in problem else 1


def _active(setting: Setting) -> float:
    """Clients that take part in a round, on average. Of rules that need the data it is taken to be half of them."""
    rounds = range(min(ROUNDS, setting.total_rounds))
    try:
        participants = setting.participation_kind.bind(None, setting.clients, 0)
        return sum(len(participants.active(t)) for t in rounds) / len(rounds)
    except (UserError, AttributeError):
        return setting.clients / 2


def _operations(problem: Spec) -> float:
    """Operations of the gradient of one sample. Clients of the problem ``similar`` have dense matrices."""
    if "data" not in problem:
        dim = problem.get("dim", 10)
        return 2.0 * dim * (dim if problem["kind"] == "similar" else 1)
    source = sources.info(problem["data"])
    return 4.0 * prod(source.shape) * (source.classes if problem["kind"] == "softmax" else 1)


@functools.lru_cache(None)
def _gradient_seconds(spec: str, batch: float) -> float:
    """Seconds that one thread takes for the gradient of a network on a minibatch."""
    import torch

    problem = json.loads(spec)
    source, rows = sources.info(problem["data"]), min(math.ceil(batch), MINIBATCH)
    with torch.random.fork_rng(devices=[]):
        module = ARCHITECTURES.build(problem.get("architecture", "mlp")).build(tuple(source.shape), source.classes)
        sample = torch.rand((rows, *source.shape))
    threads, times = torch.get_num_threads(), []
    torch.set_num_threads(1)
    for _ in range(3):  # the first is slower than all that follow
        began = time.process_time()  # of this process, however busy the machine is
        module(sample).sum().backward()
        times.append(time.process_time() - began)
    torch.set_num_threads(threads)
    return min(times) * batch / rows


def seconds(works: Mapping[Key, Work], measured: Mapping[Key, float]) -> dict[Key, float]:
    """Seconds of a processor that experiments take, estimated; those with measured seconds are left out.

    Runs, steps and operations have rates, which the measured experiments without networks give (least squares of the
    logarithms of estimated over measured times). Networks take the share of the counted seconds that measured
    experiments with networks took, in the median. An experiment that was measured at another size takes its
    time from there, by the ratio of the two; with networks only if that took a minute, since less is start-up.
    """
    known = [key for key in works if measured.get(key)]
    fitted = [key for key in known if not works[key].trained]
    if not fitted:
        return {}
    rates = _rates(np.array([_parts(works[key]) for key in fitted]), np.array([measured[key] for key in fitted]))
    counted = {key: float(_parts(work) @ rates) for key, work in works.items()}
    networks = {key for key in works if works[key].trained > counted[key]}
    known = [key for key in known if key not in networks or measured[key] >= TELLING]
    shares = [measured[key] / works[key].trained for key in known if key in networks]
    share = float(np.median(shares)) if shares else 1.0
    plain = {key: counted[key] + share * work.trained for key, work in works.items()}
    found = {}
    for key in plain.keys() - measured.keys():
        ratios = [measured[other] / plain[other] for other in known if other[0] == key[0] and plain[other] > 0]
        found[key] = plain[key] * (math.prod(ratios) ** (1 / len(ratios)) if ratios else 1)
    return found


def _rates(parts: np.ndarray, took: np.ndarray) -> np.ndarray:
    """Seconds of a unit of each part.

    parts: of experiments, (experiments, parts). took: their times, (experiments,).
    """
    from scipy.optimize import least_squares

    start = np.log(np.median(took[:, None] / np.maximum(parts, 1), axis=0) / parts.shape[1])
    fit = least_squares(lambda logs: np.log(parts @ np.exp(logs)) - np.log(took), start)
    return np.exp(fit.x)


def _parts(work: Work) -> np.ndarray:
    """What has a rate: runs, steps, client steps and operations."""
    return np.array([work.runs, work.steps, work.client_steps, work.operations])
