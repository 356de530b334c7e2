"""Saving simulations between rounds, so that an interrupted run continues with the same bits."""

import json
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.federation.arrays import Array, State, is_torch, to_numpy, zeros_like
from fedatlas.federation.engine.channels import Table
from fedatlas.federation.engine.exchanges import Ledger
from fedatlas.federation.engine.history import History
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.io.files import atomic

SAVED = ("round", "local_steps", "diverged_round", "costs")
CHUNK_BYTES = 1 << 26  # of client states that are copied at once

Pairs = Sequence[tuple[Simulation, History]]


class Stopped(Exception):
    """A run was asked to stop, and has been saved."""


class Checkpointer:
    """Saves simulations to a file between rounds, and restores them from it.

    The file, an .npz, holds server states, the rows of client tables that were written, costs and histories. It is
    replaced as a whole.

    path: of the file. about: the specification and code that the simulations come from, as JSON types: a file about
    others is ignored. seconds: least time between two savings. share: largest part of the time that savings may take.
    stop: an event; once it is set, the next round is the last: it is saved, and Stopped is raised. also: called before
    each saving.
    """

    def __init__(
        self,
        path: str | Path,
        identity: Any,
        seconds: float = 60,
        share: float = 0.02,
        stop: threading.Event | None = None,
        also: Callable[[], None] = lambda: None,
    ) -> None:
        self.path, self.identity, self.seconds, self.share = Path(path), identity, seconds, share
        self.stop, self.also = stop, also
        self.due = time.monotonic() + seconds

    def watch(self, runs: Any, pairs: Pairs) -> Callable[[], None]:
        """Restore simulations and their histories if the file is about them; returns what is to be called after rounds.

        runs: JSON types that identify the pairs among those that ``about`` describes.
        """
        if self.path.is_file():
            self._restore(runs, pairs)

        def pause() -> None:
            began = time.monotonic()
            stopped = self.stop is not None and self.stop.is_set()
            if stopped or began >= self.due:
                self.save(runs, pairs)
                now = time.monotonic()
                self.due = now + max(self.seconds, (now - began) / self.share)
            if stopped:
                raise Stopped

        return pause

    def save(self, runs: Any, pairs: Pairs) -> None:
        """Write the file. Raises UserError if it cannot be written."""
        self.also()
        with atomic(self.path) as temporary, zipfile.ZipFile(temporary, "w") as file:
            for name, array in _arrays({"about": self.identity, "runs": runs}, pairs):
                with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, array, allow_pickle=False)

    def _restore(self, runs: Any, pairs: Pairs) -> None:
        """Set the simulations and histories to what the file holds: all of them, or none."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                if archive.testzip():
                    raise ValueError("it is damaged")
            with np.load(self.path, allow_pickle=False) as file:
                head = json.loads(str(file["head"]))
                if head["about"] != self.identity:
                    say(f"the checkpoint {self.path} is of another specification or other code: the run starts again")
                    return
                if head["runs"] != runs:
                    return
                numbered = enumerate(zip(pairs, head["simulations"], strict=True))
                restorers = [_read(file, run, number, *pair) for number, (pair, run) in numbered]
        except Exception as error:  # of damaged archives, zipfile and NumPy raise a dozen kinds
            say(f"the checkpoint {self.path} cannot be read ({error}): the run starts again")
            return
        for restore in restorers:
            restore()
        say(f"the run continues from round {min(s.round for s, _ in pairs)}, which {self.path} holds")

    def forget(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)


def say(text: str) -> None:
    """Print a line for the log of a job."""
    print(text, flush=True)


def _arrays(head: dict[str, Any], pairs: Pairs) -> Iterator[tuple[str, np.ndarray]]:
    """Names and arrays of all that is saved, made one by one."""
    simulations: list[dict[str, Any]] = []
    vectors: dict[str, Array] = {}
    for number, (simulation, history) in enumerate(pairs):
        state = {name: getattr(simulation, name) for name in SAVED} | {"ledger": simulation.ledger.text()}
        state |= {"rows": history.rows, "totals": history.totals, "status": history.status}
        state |= {"numbers": {name: value for name, value in simulation.s.items() if not hasattr(value, "shape")}}
        between: Mapping[str, Array] = {}
        if simulation.rounds is not None:
            state["driver"], between = simulation.rounds.saved()
        for kind, fields in (("s", dict(simulation.s.items())), ("d", between)):
            state[kind] = [name for name, value in fields.items() if hasattr(value, "shape")]
            vectors |= {f"{number}.{kind}.{name}": fields[name] for name in state[kind]}
        state |= {"errors": list(simulation.clients.channels.errors.data)}
        simulations.append(state | {key: len(_parts(table)) for key, table in _tables(simulation).items()})
    text = json.dumps({**head, "simulations": simulations}, default=lambda value: value.item())
    yield "head", np.array(text)
    for name, value in vectors.items():
        yield name, to_numpy(value)
    for number, (simulation, _) in enumerate(pairs):
        for key, table in _tables(simulation).items():
            for part, ids in enumerate(_parts(table)):
                yield f"{number}.{key}.ids.{part}", ids
                for name, data in table.data.items():
                    yield f"{number}.{key}.{name}.{part}", to_numpy(data[ids])


def _tables(simulation: Simulation) -> dict[str, Table]:
    """Return the states of clients by the word for them in the file: the algorithm's, and errors of their channel."""
    return {"states": simulation.clients.table, "left": simulation.clients.channels.errors}


def _parts(table: Table) -> list[np.ndarray]:
    """Return the ids of the clients that have a state, in groups of at most CHUNK_BYTES of state."""
    ids = np.flatnonzero(table.touched) if table.data else np.zeros(0, int)
    count = -(-len(ids) * table.row_bytes // CHUNK_BYTES)
    return np.array_split(ids, count) if count else []


def _read(file: Any, run: dict[str, Any], number: int, simulation: Simulation, history: History) -> Callable[[], None]:
    """Read what a file holds of a simulation, and return a function that sets it and its history to that.

    Args:
        file: The file.
        run: JSON types of the simulation.
        number: Number of the simulation.
        simulation: The simulation.
        history: Its history.

    Raises:
        Exception: Something is missing in the file.
    """
    like = simulation.x0
    vectors, between = ({name: _like(like, file[f"{number}.{kind}.{name}"]) for name in run[kind]} for kind in "sd")
    tables = {key: table.fresh() for key, table in _tables(simulation).items()}
    for name in run["errors"]:
        tables["left"].add(name, zeros_like(like))
    for key, table in tables.items():
        for part in range(run[key]):
            states = {name: _like(like, file[f"{number}.{key}.{name}.{part}"]) for name, _ in table.first.items()}
            table.write(file[f"{number}.{key}.ids.{part}"], State(**states))
    ledger = Ledger.parse(run["ledger"])

    def restore() -> None:
        simulation.s, simulation.ledger = simulation.s.rebuild(vectors | run["numbers"]), ledger
        simulation.clients.table, simulation.clients.channels.errors = tables["states"], tables["left"]
        for name in SAVED:
            setattr(simulation, name, run[name])
        for name in ("rows", "totals", "status", "diverged_round"):
            setattr(history, name, run[name])
        if simulation.rounds is not None:
            simulation.rounds.restore(run["driver"], between)

    return restore


def _like(vector: Array, array: np.ndarray) -> Array:
    """An array in the library and on the device of a vector, with its own type."""
    if not is_torch(vector):
        return array
    import torch

    return torch.from_numpy(array).to(vector.device)
