"""Runs that are interrupted between rounds continue with the same bits."""

import functools
import threading
import zipfile

import numpy as np
import pytest

from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.engine import checkpoint
from fedatlas.federation.engine.checkpoint import Checkpointer, Stopped
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation, run_simulations
from tests.helpers import example, logistic

OPTIONS = {"clients": 5, "local_steps": 2, "rounds": 7, "batch": 2, "eval_rounds": 3}


SAMPLED = {"participation": {"kind": "uniform", "count": 2}}


def never(problem, names, setting, keep=None):
    """Histories of fresh simulations."""
    simulations = [Simulation(example(name, lr=0.05, mu=0.1, L=20.0), problem, setting, seed=3) for name in names]
    return simulations, run_simulations(simulations, keep=keep)


def stopped_after(rounds, path, subject="this"):
    """A Checkpointer whose run is asked to stop in its given round."""
    event = threading.Event()

    class Counting(Checkpointer):
        remaining = rounds

        def watch(self, runs, pairs):
            pause = super().watch(runs, pairs)

            def counted():
                self.remaining -= 1
                if self.remaining == 0:
                    event.set()
                pause()

            return counted

    return functools.partial(Counting(path, subject, stop=event).watch, "runs")


def resumed(path, subject="this"):
    return functools.partial(Checkpointer(path, subject).watch, "runs")


def same(first, second):
    """Whether two Histories agree in all but time."""
    rows = [[{k: v for k, v in row.items() if k != "seconds"} for row in history.rows] for history in (first, second)]
    outputs = (to_numpy(first.x) == to_numpy(second.x)).all()
    return rows[0] == rows[1] and first.ledger == second.ledger and first.status == second.status and outputs


@pytest.mark.parametrize("rounds", range(1, 8))
@pytest.mark.parametrize("storage", ["memory", "disk"])
def test_any_round_with_several_simulations(rounds, storage, tmp_path):
    problem, setting = logistic(), Setting(**OPTIONS, **SAMPLED, state=storage)
    names = ["scaffold", "fedavg"]
    _, expected = never(problem, names, setting)
    with pytest.raises(Stopped):
        never(problem, names, setting, stopped_after(rounds, tmp_path / "a.state"))
    simulations, again = never(problem, names, setting, resumed(tmp_path / "a.state"))
    assert all(map(same, again, expected))
    active = set(np.concatenate([setting.participation_kind.bind(problem, 5, 3).active(t) for t in range(7)]))
    assert set(np.flatnonzero(simulations[0].clients.table.touched)) == active


def test_compiled_rounds_stop_at_evaluations(tmp_path):
    problem, setting = logistic(heterogeneous=False), Setting(clients=5, local_steps=2, rounds=7, eval_rounds=3)
    names = ["fedavg", "fedavg"]
    _, expected = never(problem, names, setting)
    with pytest.raises(Stopped):
        never(problem, names, setting, stopped_after(1, tmp_path / "a.state"))
    stops = []
    keep = resumed(tmp_path / "a.state")
    _, again = never(problem, names, setting, lambda pairs: (keep(pairs), stops.extend(s.round for s, _ in pairs))[0])
    assert stops == [3, 3] and all(map(same, again, expected))


def test_a_diverged_simulation_stays_diverged(tmp_path):
    problem, setting = logistic(), Setting(**OPTIONS)

    def two(keep=None):
        simulations = [Simulation(ALGORITHMS.create("fedavg", {"lr": lr}), problem, setting, 3) for lr in (1e300, 0.1)]
        return run_simulations(simulations, keep=keep)

    expected = two()
    with pytest.raises(Stopped):
        two(stopped_after(4, tmp_path / "a.state"))
    again = two(resumed(tmp_path / "a.state"))
    assert [history.status for history in again] == ["diverged", "ok"]
    assert again[0].diverged_round == expected[0].diverged_round and same(again[1], expected[1])


def test_checkpoints_of_something_else_are_ignored_with_a_message(tmp_path, capsys):
    problem, setting, path = logistic(), Setting(**OPTIONS), tmp_path / "a.state"
    with pytest.raises(Stopped):
        never(problem, ["fedavg"], setting, stopped_after(2, path))
    _, (expected,) = never(problem, ["fedavg"], setting)
    for spoil, message in (
        (lambda: None, "another specification or other code: the run starts again"),
        (lambda: path.write_bytes(path.read_bytes()[:-100]), "cannot be read"),
        (lambda: path.write_bytes(b""), "cannot be read"),
    ):
        spoil()
        _, (again,) = never(problem, ["fedavg"], setting, resumed(path, subject="other"))
        assert message in capsys.readouterr().out and same(again, expected)


@pytest.mark.parametrize("lost", ["0.s.x", "1.s.x", "1.states.ids.0", "1.states.c.0", "0.states.c.0"])
def test_a_checkpoint_is_taken_whole_or_not_at_all(lost, tmp_path, capsys):
    problem, setting, path = logistic(), Setting(**OPTIONS, **SAMPLED), tmp_path / "a.state"
    names = ["scaffold", "scaffold"]
    _, expected = never(problem, names, setting)
    with pytest.raises(Stopped):
        never(problem, names, setting, stopped_after(4, path))
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist() if name != f"{lost}.npy"}
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    _, again = never(problem, names, setting, resumed(path))
    assert f"{lost}" in capsys.readouterr().out and all(map(same, again, expected))


def test_the_file_holds_only_clients_that_were_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "CHUNK_BYTES", 100)  # one client's state at a time
    problem, setting = logistic(), Setting(**OPTIONS, **SAMPLED)
    with pytest.raises(Stopped):
        never(problem, ["scaffold"], setting, stopped_after(1, tmp_path / "a.state"))
    with np.load(tmp_path / "a.state") as file:
        ids = [file[name].tolist() for name in file.files if ".ids." in name]
    assert ids == [[i] for i in setting.participation_kind.bind(problem, 5, 3).active(0)]
    _, (again,) = never(problem, ["scaffold"], setting, resumed(tmp_path / "a.state"))
    assert same(again, never(problem, ["scaffold"], setting)[1][0])
