"""Checkpoints of interrupted runs: from a damaged one, a run starts again or goes on, and ends with the same bits."""

import contextlib
import functools
import io
import tempfile
import threading
import zipfile
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from fedatlas.federation import algorithms
from fedatlas.federation.engine.checkpoint import Checkpointer, Stopped
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation, run_simulations
from tests.fuzz.frame import Target, mutated, unclocked
from tests.helpers import logistic

NAMES = ("scaffold", "fedavg")
SETTING = Setting(
    clients=5, local_steps=2, rounds=6, batch=2, eval_rounds=2, participation={"kind": "uniform", "count": 2}
)
PROBLEM = logistic()


def _ended(keep=None) -> list:
    each = [Simulation(algorithms.create(name, {"lr": 0.05}), PROBLEM, SETTING, seed=3) for name in NAMES]
    histories = run_simulations(each, keep=keep)
    rows = [[{k: v for k, v in row.items() if k != "seconds"} for row in one.rows] for one in histories]
    clients = [simulation.table.read(np.arange(5)).items() for simulation in each]
    vectors = [[(name, value.tolist()) for name, value in state] for state in clients]
    return [rows, [one.x.tolist() for one in histories], vectors]


@functools.cache
def _whole() -> list:
    return _ended()


@functools.cache
def _seeds() -> list[bytes]:
    """Checkpoints after each round, and the file of another specification."""
    found = []
    for last in range(1, 6):
        with tempfile.TemporaryDirectory() as folder:
            stop = threading.Event()
            keeper = Checkpointer(Path(folder) / "a.state", "this", stop=stop)

            def watch(pairs, keeper=keeper, stop=stop, last=last):
                pause = keeper.watch("runs", pairs)

                def counted():
                    if min(simulation.round for simulation, _ in pairs) >= last:
                        stop.set()
                    pause()

                return counted

            with contextlib.suppress(Stopped), unclocked():
                _ended(watch)
            found.append((Path(folder) / "a.state").read_bytes())
    return found


@st.composite
def _repacked(draw) -> bytes:
    """A sound archive, of which a member is missing, empty, short or another array."""
    with zipfile.ZipFile(io.BytesIO(draw(st.sampled_from(_seeds())))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = draw(st.sampled_from(list(members)))
    changed = {
        "missing": None, "empty": b"", "short": members[name][:-8], "number": _npy(np.array(1.0)),
        "vector": _npy(np.zeros(2)), "text": _npy(np.array('{"about": "this", "runs": "runs"}')),
    }[draw(st.sampled_from(["missing", "empty", "short", "number", "vector", "text"]))]  # fmt: skip
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for one, content in (members | {name: changed}).items():
            if content is not None:
                archive.writestr(zipfile.ZipInfo(one), content)
    return out.getvalue()


def _npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, array)
    return out.getvalue()


def _run(content: bytes, folder: Path) -> None:
    path = folder / "a.state"
    path.write_bytes(content)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        ended = _ended(functools.partial(Checkpointer(path, "this").watch, "runs"))
    assert ended == _whole(), out.getvalue()


STATE = Target("state", st.deferred(lambda: mutated(_seeds())) | _repacked(), _run)
