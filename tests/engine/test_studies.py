"""Methods of papers as short studies, each equal to a loop that shares nothing with the engine but gradients and draws.

They need what no shipped algorithm does: what a server keeps for each client, several models, rows of clients, coded
messages, notes, and links that change and have a direction.
"""

import threading

import numpy as np
import pytest

from fedatlas import Mixing, Rows, State
from fedatlas.errors import Undefined
from fedatlas.federation.engine.checkpoint import Checkpointer, Stopped
from fedatlas.federation.engine.simulation import run_simulations
from tests.engine.studies import LR, K, Local, M, T, descend, gradient, local, simulation, study

ASYNCHRONOUS = {"kind": "asynchronous", "buffer": 2, "concurrency": 3, "staleness": 0.0}


@study
class HierFAVG(Local):
    """HierFAVG (Liu et al. 2020): edge servers average their clients in each round, the cloud in every second."""

    broadcast = ("edge[i]",)

    def init(self, x0, clients):
        return State(edge=np.tile(x0, (clients, 1))), State()

    def client(self, s, i, steps):
        return State(y=Rows(descend(self, s.edge, steps)))

    def server(self, s, mean, n):
        edge = n.ids % 3
        rows = np.stack([mean.y[edge == e].mean(0) for e in edge])
        return State(edge=rows if n.round % 2 == 0 else np.tile(mean.y.mean(0), (n.clients, 1)))

    def output(self, s):
        return s.edge.mean(0)


@study
class Personal(Local):
    """The server keeps a model for each client, half of which comes from the mean."""

    broadcast = ("U[i]",)

    def init(self, x0, clients):
        return State(x=x0, U=np.tile(x0, (clients, 1))), State()

    def client(self, s, i, steps):
        return State(delta=Rows(descend(self, s.U, steps) - s.U))

    def server(self, s, mean, n):
        U = s.U.copy()
        for row, k in zip(mean.delta, n.ids, strict=True):
            U[k] = U[k] + row
        x = s.x + mean.delta.mean(0)
        return State(x=x, U=0.5 * U + 0.5 * x)


@study
class PushSum(Local):
    """Stochastic gradient push (Assran et al. 2019): column-stochastic links that change with the round."""

    broadcast = ()
    full_participation = True

    def init(self, x0):
        return State(x=x0), State(x=x0, w=1.0)

    def client(self, s, i, steps):
        return State(x=i.x - self.lr * steps.mean(i.x / i.w), w=i.w), State()

    def server(self, s, mean, n):
        return State(x=mean.x)

    def receive(self, s, i):
        return State(x=s.x, w=s.w)

    def mixing(self, clients, t):
        return Mixing(directed(clients, t), directed=True)


def directed(m, t):
    W = np.eye(m) / 2
    for j in range(m):
        W[(j + 1 + t % 2) % m, j] += 0.5
    W[:, 0] = 0
    W[[0, 1, 2], 0] = 1 / 3
    return W


def hierfavg(run):
    rows = [run.x0] * M
    for t in range(T):
        y = [local(run, t, i, rows[i]) for i in range(M)]
        groups = [[y[j] for j in range(M) if j % 3 == i % 3] if t % 2 == 0 else y for i in range(M)]
        rows = [np.mean(group, axis=0) for group in groups]
    return np.mean(rows, axis=0)


def push_sum(run):
    x, w = np.tile(run.x0, (M, 1)), np.ones((M, 1))
    for t in range(T):
        g = np.stack([np.mean([gradient(run, t, k, i)(x[i] / w[i]) for k in range(K)], axis=0) for i in range(M)])
        sent = x - LR * g
        x, w = directed(M, t) @ sent, directed(M, t) @ w
    return sent.mean(0)


@pytest.mark.parametrize(("cls", "loop"), [(HierFAVG, hierfavg), (PushSum, push_sum)], ids=["HierFAVG", "PushSum"])
def test_a_study_is_the_loop_of_its_paper(cls, loop):
    run = simulation(cls)
    run.run()
    np.testing.assert_allclose(run.output, loop(run), rtol=1e-10, atol=1e-12)
    for block in (1, 2):
        part = simulation(cls, block=block)
        part.run()
        assert part.output.tobytes() == run.output.tobytes()


@pytest.mark.parametrize(("cls", "down", "up"), [(HierFAVG, 1, 1), (Personal, 1, 1)], ids=lambda value: str(value))
def test_what_is_sent_is_counted(cls, down, up):
    row = simulation(cls).run().rows[-1]
    assert row["vectors_down"] == pytest.approx(T * down) and row["vectors_up"] == pytest.approx(T * up)
    assert row["bits_down"] == pytest.approx(T * down * 7 * 64)


SOME = {"participation": {"kind": "uniform", "count": 3}}


@pytest.mark.parametrize("options", [{}, SOME, {"driver": ASYNCHRONOUS}])
def test_own_rows_have_the_same_bits_in_blocks_and_from_checkpoints(options, tmp_path):
    whole = simulation(Personal, **options)
    expected = whole.run()

    def same(run, history):
        assert run.s.U.tobytes() == whole.s.U.tobytes() and history.ledger.text() == expected.ledger.text()

    for block in (1, 2):
        run = simulation(Personal, **options)
        run.block = block
        same(run, run.run())

    stop, run = threading.Event(), simulation(Personal, **options)
    stop.set()
    keep = Checkpointer(tmp_path / "a.state", "me", stop=stop)
    with pytest.raises(Stopped):
        run_simulations([run], keep=lambda pairs: keep.watch(1, pairs))
    resumed, later = simulation(Personal, **options), Checkpointer(tmp_path / "a.state", "me")
    history = run_simulations([resumed], keep=lambda pairs: later.watch(1, pairs))[0]
    assert run.round < T
    same(resumed, history)


def test_own_rows_pass_no_channel_down():
    with pytest.raises(Undefined, match="are sent rows of their own, and no channel down is defined for these"):
        simulation(Personal, channel={"down": {"kind": "natural"}})
