"""What runs in MLflow can hold besides results: the final vector as a model, and how busy the machine was.

A job that is asked for them keeps them in ``extras/ID/KEY.npz``, beside the folder of run files: vectors of the runs on
scoring seeds, and samples of the machine while a run, or those that were computed with it, went on.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.experiments.cells import CellSpec
from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.engine import checkpoint
from fedatlas.io.files import atomic

if TYPE_CHECKING:
    from fedatlas.federation.engine.checkpoint import Pairs

LARGEST = 1 << 26  # bytes of a vector that is kept
PAUSE = 10.0  # seconds between two samples of the machine, as in MLflow
SAVE = 60.0  # seconds between two savings


@dataclass
class Extra:
    """Of one run. x: its final vector (d,). layout: names and shapes of a network's parameters, in the order of x.

    usage: (seconds into the computation, value by name) samples of the machine.
    """

    x: np.ndarray | None = None
    layout: dict[str, list[int]] | None = None
    usage: list[tuple[float, dict[str, float]]] = field(default_factory=list)


def place(run_file: str | Path) -> Path:
    """Where the extras of a run file lie."""
    path = Path(run_file)
    return path.parents[2] / "extras" / path.parent.name / f"{path.stem}.npz"


def load(run_file: str | Path) -> dict[str, Extra]:
    """Extras by the key of the run; empty if none were kept, or if the file cannot be read."""
    try:
        with np.load(place(run_file), allow_pickle=False) as file:
            head = json.loads(str(file["head"]))
            return {
                key: Extra(file[f"{at}"] if f"{at}" in file else None, one["layout"], one["usage"])
                for at, (key, one) in enumerate(head.items())
            }
    except FileNotFoundError:
        return {}
    except Exception as error:  # of damaged archives, zipfile and NumPy raise a dozen kinds
        print(
            f"warning: {place(run_file)} cannot be read ({error}): models and system metrics are left out", flush=True
        )
        return {}


def _write(path: Path, found: Mapping[str, Extra]) -> None:
    head = {key: {"layout": one.layout, "usage": one.usage} for key, one in found.items()}
    vectors = {f"{at}": one.x for at, one in enumerate(found.values()) if one.x is not None}
    with atomic(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, head=np.array(json.dumps(head)), **vectors)  # type: ignore[arg-type]


@contextlib.contextmanager
def collect(asked: Container[str], spec: CellSpec, run_file: str | Path) -> Iterator[None]:
    """Keep extras of the runs of a cell that are computed inside.

    asked: which, ``models`` and ``system``. run_file: path of the cell's run file.
    """
    keeper = _Keeper(spec, Path(run_file), "models" in asked)
    token = checkpoint.OBSERVER.set(keeper)
    ended = threading.Event()
    sampling = threading.Thread(target=keeper.sample, args=[ended], daemon=True)
    if "system" in asked:
        sampling.start()
    try:
        yield
    finally:
        checkpoint.OBSERVER.reset(token)
        ended.set()
        keeper.save()


class _Keeper:
    """Is told of runs before they are computed; takes their vectors when the next ones begin."""

    def __init__(self, spec: CellSpec, run_file: Path, models: bool) -> None:
        self.seeds, self.tuning, self.models = set(spec.seeds), set(spec.tuning_seeds), models
        self.path, self.found = place(run_file), load(run_file)
        self.now: dict[str, Any] = {}
        self.began = self.saved = time.monotonic()

    def __call__(self, runs: list[str], pairs: Pairs) -> None:
        self.take()
        self.now, self.began = dict(zip(runs, pairs, strict=True)), time.monotonic()
        self.found.update((key, Extra()) for key in runs)
        if self.began - self.saved > SAVE:
            self.save()

    def take(self) -> None:
        """Take the vectors of the runs that have ended."""
        for key, (simulation, history) in self.now.items():
            seed = json.loads(key)[-1]
            if not self.models or history.x is None or seed in self.tuning or seed not in self.seeds:
                continue
            module = getattr(simulation.problem, "module", None)
            x = to_numpy(history.x)
            if x.nbytes <= LARGEST and np.isfinite(x).all():
                self.found[key].x = x
                if module is not None:
                    self.found[key].layout = {name: list(one.shape) for name, one in module.named_parameters()}
        self.now = {}

    def save(self) -> None:
        """Write what there is."""
        self.take()
        kept = {key: one for key, one in self.found.items() if one.x is not None or one.usage}
        if kept:
            _write(self.path, kept)
        self.saved = time.monotonic()

    def sample(self, ended: threading.Event) -> None:
        """Sample the machine until the event is set, with MLflow's monitors."""
        from mlflow.system_metrics.metrics.cpu_monitor import CPUMonitor
        from mlflow.system_metrics.metrics.gpu_monitor import GPUMonitor

        monitors: list[Any] = [CPUMonitor()]
        with contextlib.suppress(ImportError, RuntimeError):  # no GPU, or no library that asks it
            monitors.append(GPUMonitor())
        pause = float(os.environ.get("MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL") or PAUSE)
        while not ended.wait(pause):
            values: dict[str, float] = {}
            for monitor in monitors:
                monitor.collect_metrics()
                values |= monitor.aggregate_metrics()
                monitor.clear_metrics()
            for key in list(self.now):
                self.found[key].usage.append((time.monotonic() - self.began, values))
