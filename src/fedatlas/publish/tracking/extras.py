"""Extras of runs in MLflow besides results: the final vector as a model, and samples of the machine.

A job whose study asks for extras stores them in ``extras/ID/KEY.npz``, beside the folder of run files: vectors of the
runs on scoring seeds, and samples of the machine while a run, or the runs computed with it, went on.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import threading
import time
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.experiments.cells import CellSpec, Run
from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.engine import checkpoint
from fedatlas.io.files import atomic

if TYPE_CHECKING:
    from fedatlas.federation.engine.checkpoint import Pairs

MAX_BYTES = 1 << 26  # of a vector that is stored
SAMPLE_SECONDS = 10.0  # between two samples of the machine, as in MLflow
INTERVAL = "MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL"  # MLflow's variable
SAVE_SECONDS = 60.0  # between two savings

ARRAY_SCRIPT = """\
\"\"\"The final vector of the run: the output of {algorithm} that is evaluated.\"\"\"

import numpy as np

x = np.load("x.npy")
print(x.shape, x.dtype)
"""
NETWORK_SCRIPT = """\
\"\"\"The network of the run, with the parameters that {algorithm} ended with.\"\"\"

import torch

from fedatlas.federation.architectures import ARCHITECTURES

module = ARCHITECTURES.build({architecture!r}, "mlp").build({shape!r}, {outputs!r})
module.load_state_dict(torch.load("state_dict.pt", weights_only=True))
print(module)
"""


@dataclass
class Extra:
    """Extras of one run.

    Attributes:
        x: Final vector (d,).
        layout: Names and shapes of a network's parameters, in the order of x.
        usage: Samples of the machine: (seconds into the computation, value by name).
    """

    x: np.ndarray | None = None
    layout: dict[str, list[int]] | None = None
    usage: list[tuple[float, dict[str, float]]] = field(default_factory=list)


def extras_path(run_file: str | Path) -> Path:
    """Return the path of the extras of a run file."""
    path = Path(run_file)
    return path.parents[2] / "extras" / path.parent.name / f"{path.stem}.npz"


def load(run_file: str | Path) -> dict[str, Extra]:
    """Return extras by the key of the run; empty if there are none, or if the file cannot be read."""
    path = extras_path(run_file)
    try:
        with np.load(path, allow_pickle=False) as file:
            head = json.loads(str(file["head"]))
            return {
                key: Extra(file[f"{number}"] if f"{number}" in file else None, item["layout"], item["usage"])
                for number, (key, item) in enumerate(head.items())
            }
    except FileNotFoundError:
        return {}
    except Exception as error:  # for damaged archives, zipfile and NumPy raise a dozen kinds
        print(f"warning: {path} cannot be read ({error}): models and system metrics are left out", flush=True)
        return {}


def _write(path: Path, extras: Mapping[str, Extra]) -> None:
    head = {key: {"layout": extra.layout, "usage": extra.usage} for key, extra in extras.items()}
    vectors = {f"{number}": extra.x for number, extra in enumerate(extras.values()) if extra.x is not None}
    with atomic(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, head=np.array(json.dumps(head)), **vectors)  # type: ignore[arg-type]


@contextlib.contextmanager
def collect(names: Container[str], spec: CellSpec, run_file: str | Path) -> Iterator[None]:
    """Collect extras of the runs of a cell that are computed inside the block.

    Args:
        names: Kinds of extras: ``models`` and ``system``.
        spec: Specification of the cell.
        run_file: Path of the cell's run file.
    """
    collector = _Collector(spec, Path(run_file), "models" in names)
    token = checkpoint.OBSERVER.set(collector)
    ended = threading.Event()
    sampling = threading.Thread(target=collector.sample, args=[ended], daemon=True)
    if "system" in names:
        sampling.start()
    try:
        yield
    finally:
        checkpoint.OBSERVER.reset(token)
        ended.set()
        collector.save()


class _Collector:
    """Observer of a cell: is called before runs are computed, and reads their vectors when the next ones begin."""

    def __init__(self, spec: CellSpec, run_file: Path, models: bool) -> None:
        self.seeds, self.tuning_seeds, self.models = set(spec.seeds), set(spec.tuning_seeds), models
        self.path, self.extras = extras_path(run_file), load(run_file)
        self.running: dict[str, Any] = {}
        self.began = self.saved = time.monotonic()

    def __call__(self, runs: list[str], pairs: Pairs) -> None:
        self.read_vectors()
        self.running, self.began = dict(zip(runs, pairs, strict=True)), time.monotonic()
        self.extras.update((key, Extra()) for key in runs)
        if self.began - self.saved > SAVE_SECONDS:
            self.save()

    def read_vectors(self) -> None:
        """Read the final vectors of the runs that have ended."""
        for key, (simulation, history) in self.running.items():
            seed = json.loads(key)[-1]
            if not self.models or history.x is None or seed in self.tuning_seeds or seed not in self.seeds:
                continue
            module = getattr(simulation.problem, "module", None)
            x = to_numpy(history.x)
            if x.nbytes <= MAX_BYTES and np.isfinite(x).all():
                self.extras[key].x = x
                if module is not None:
                    self.extras[key].layout = {name: list(array.shape) for name, array in module.named_parameters()}
        self.running = {}

    def save(self) -> None:
        """Write the extras collected up to now."""
        self.read_vectors()
        extras = {key: extra for key, extra in self.extras.items() if extra.x is not None or extra.usage}
        if extras:
            _write(self.path, extras)
        self.saved = time.monotonic()

    def sample(self, ended: threading.Event) -> None:
        """Sample the machine until the event is set, under MLflow's names of system metrics."""
        import psutil

        pause = float(os.environ.get(INTERVAL) or SAMPLE_SECONDS)
        psutil.cpu_percent()  # the first call only begins to measure
        while not ended.wait(pause):
            memory = psutil.virtual_memory()
            values = {
                "cpu_utilization_percentage": psutil.cpu_percent(),
                "system_memory_usage_megabytes": memory.used / 1e6,
                "system_memory_usage_percentage": memory.percent,
                **_gpu_usage(),
            }
            # a list: the computing thread may replace the runs meanwhile
            for key in list(self.running):
                self.extras[key].usage.append((time.monotonic() - self.began, values))


def _gpu_usage() -> dict[str, float]:
    """Return the use of each GPU, where torch is loaded and computes on one."""
    torch = sys.modules.get("torch")
    values: dict[str, float] = {}
    if torch is not None and torch.cuda.is_initialized():
        for number in range(torch.cuda.device_count()):
            free, total = torch.cuda.mem_get_info(number)
            values[f"gpu_{number}_memory_usage_megabytes"] = (total - free) / 1e6
            with contextlib.suppress(ImportError, RuntimeError):  # without nvidia-ml-py
                values[f"gpu_{number}_utilization_percentage"] = float(torch.cuda.utilization(number))
    return values


def model_files(run: Run, extra: Extra, data: Mapping[str, Mapping[str, Any]]) -> dict[str, bytes]:
    """Return the files of a run's model by path: a NumPy array or a torch state dict, and a script that loads it.

    Args:
        run: The run.
        extra: Its extras; without a final vector there are no files.
        data: Provenance of its data sets by name.
    """
    if extra.x is None:
        return {}
    buffer = io.BytesIO()
    provenance = data.get(str(run.problem.get("data")))
    if extra.layout is None or provenance is None:
        np.save(buffer, extra.x)
        script = ARRAY_SCRIPT.format(algorithm=run.algorithm)
        return {"model/x.npy": buffer.getvalue(), "model/load.py": script.encode()}
    import torch

    sizes = [int(np.prod(shape)) for shape in extra.layout.values()]
    parts = np.split(extra.x, np.cumsum(sizes)[:-1])
    state = {
        name: torch.from_numpy(part.reshape(shape).copy())
        for (name, shape), part in zip(extra.layout.items(), parts, strict=True)
    }
    if all(name.startswith("module.") for name in state):  # a wrapper that computes in bfloat16
        state = {name.removeprefix("module."): value for name, value in state.items()}
    torch.save(state, buffer)
    script = NETWORK_SCRIPT.format(
        algorithm=run.algorithm,
        architecture=run.problem.get("architecture", "mlp"),
        shape=tuple(provenance["shape"]),
        outputs=1 if run.problem.get("loss") == "logistic" else provenance["classes"],
    )
    return {"model/state_dict.pt": buffer.getvalue(), "model/load.py": script.encode()}
