"""Saving simulations between rounds, so that a run that is cut off goes on with the same bits."""

import json
import time
import zipfile
from pathlib import Path

import numpy as np

from fedatlas.arrays import State, is_torch
from fedatlas.errors import UserError

SAVED = ("round", "local_steps", "diverged_round", "costs")
CHUNK_BYTES = 1 << 26  # of client states that are copied at once


class Stopped(Exception):
    """A run was asked to stop, and has been saved."""


class Keeper:
    """Saves simulations to a file between rounds, and restores them from it.

    The file, an .npz, holds server states, the rows of client tables that were written, costs, rows of the traces; it
    is as large as these, and replaced atomically. path: of the file. about: the specification and code that simulations
    come from, as JSON types: a file about others is ignored. seconds: least time between two savings; share: largest
    part of the time that savings may take. stop: an Event; once it is set, the next round is the last: it is saved and
    Stopped raised. also: called before each saving.
    """

    def __init__(self, path, about, seconds=60, share=0.02, stop=None, also=lambda: None):
        self.path, self.about, self.seconds, self.share = Path(path), about, seconds, share
        self.stop, self.also = stop, also
        self.due = time.monotonic() + seconds

    def watch(self, runs, pairs):
        """Restore (Simulation, Trace) pairs if the file is about them; returns what is to be called after rounds.

        runs: JSON types that identify the pairs among those that self.about describes.
        """
        if self.path.exists():
            self._restore(runs, pairs)

        def pause():
            stopped = self.stop is not None and self.stop.is_set()
            if stopped or time.monotonic() >= self.due:
                began = time.monotonic()
                self.save(runs, pairs)
                now = time.monotonic()
                self.due = now + max(self.seconds, (now - began) / self.share)
            if stopped:
                raise Stopped

        return pause

    def save(self, runs, pairs):
        """Write the file."""
        self.also()
        temporary = self.path.with_name(f".tmp-{self.path.name}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with zipfile.ZipFile(temporary, "w") as file:
                for name, array in _arrays({"about": self.about, "runs": runs}, pairs):
                    with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                        np.lib.format.write_array(entry, array, allow_pickle=False)
            temporary.replace(self.path)
        except OSError as error:
            raise UserError(f"cannot write the checkpoint {self.path}: {error.strerror or error}") from None
        finally:
            temporary.unlink(missing_ok=True)

    def _restore(self, runs, pairs):
        try:
            with zipfile.ZipFile(self.path) as file:
                if file.testzip():
                    raise ValueError("it is damaged")
            with np.load(self.path, allow_pickle=False) as file:
                head = json.loads(str(file["head"]))
                if head["about"] != self.about:
                    say(f"the checkpoint {self.path} is of another specification or other code: starting anew")
                elif head["runs"] == runs:
                    for number, (pair, run) in enumerate(zip(pairs, head["simulations"], strict=True)):
                        _restore(file, run, number, *pair)
                    say(f"going on from round {min(s.round for s, _ in pairs)}, which {self.path} holds")
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            say(f"the checkpoint {self.path} cannot be read ({error}): starting anew")

    def forget(self):
        """Remove the file."""
        self.path.unlink(missing_ok=True)


def say(text):
    """A line for the log of a job."""
    print(text, flush=True)


def _arrays(head, pairs):
    """(name, array) of all that is saved, made one by one."""
    simulations = []
    for simulation, trace in pairs:
        numbers = {name: value for name, value in simulation.s.items() if not hasattr(value, "shape")}
        own = {name: getattr(simulation, name) for name in SAVED}
        simulations.append({**own, "rows": trace.rows, "status": trace.status, "numbers": numbers})
    text = json.dumps({**head, "simulations": simulations}, default=lambda value: value.item())
    yield "head", np.array(text)
    for number, (simulation, _) in enumerate(pairs):
        for name, value in simulation.s.items():
            if hasattr(value, "shape"):
                yield f"{number}.s.{name}", _host(value)
        table = simulation.table
        for part, ids in enumerate(_parts(table)):
            yield f"{number}.ids.{part}", ids
            for name, data in table.data.items():
                yield f"{number}.i.{name}.{part}", _host(data[ids])


def _parts(table):
    """Clients that were seen, in groups of at most CHUNK_BYTES of state."""
    seen = np.flatnonzero(table.touched) if table.data else np.zeros(0, int)
    count = -(-len(seen) * table.row_bytes // CHUNK_BYTES)
    return np.array_split(seen, count) if count else []


def _host(value):
    return value.detach().cpu().numpy() if is_torch(value) else np.asarray(value)


def _restore(file, run, number, simulation, trace):
    like, table = simulation.x0, simulation.table
    vectors = {name: _like(like, file[f"{number}.s.{name}"]) for name in _named(file, f"{number}.s.")}
    for part in _named(file, f"{number}.ids."):
        kept = {name: _like(like, file[f"{number}.i.{name}.{part}"]) for name in table.data}
        table.write(file[f"{number}.ids.{part}"], State(**kept))
    simulation.s = State(**vectors, **run["numbers"])
    for name in SAVED:
        setattr(simulation, name, run[name])
    trace.rows, trace.status, trace.diverged_round = run["rows"], run["status"], run["diverged_round"]


def _named(file, prefix):
    return [name.removeprefix(prefix) for name in file.files if name.startswith(prefix)]


def _like(vector, array):
    """An array in the library and on the device of a vector, with its own type."""
    if not is_torch(vector):
        return array
    import torch

    return torch.from_numpy(array).to(vector.device)
