"""Asynchronous runs, against a loop over events that knows nothing of the engine, and against synchronous runs."""

import dataclasses

import numpy as np
import pytest

from fedatlas.errors import Undefined, UserError
from fedatlas.federation import partitions
from fedatlas.federation.algorithms import ALGORITHMS, Algorithm
from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.federation.arrays import State
from fedatlas.federation.costs import COST_MODELS
from fedatlas.federation.engine.checkpoint import Stopped
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.streams import stream
from fedatlas.testing.instances import unequal_clients
from tests.engine.test_checkpoint import never, resumed, same, stopped_after
from tests.helpers import example, logistic, network, softmax

VARIED = {
    "kind": "rates", "compute": 1e4, "down": 4e3, "up": 1e3, "latency": 0.3, "overhead": 0.01,
    "compute_spread": 0.8, "down_spread": 0.5, "up_spread": 0.7,
}  # fmt: skip


ALIKE = {name: value for name, value in VARIED.items() if not name.endswith("spread")}


M, K, BATCH, LR, SEED = 5, 3, 2, 0.3, 7


def driver(**options):
    return {"kind": "asynchronous", "buffer": 2, "concurrency": 3, "model": VARIED} | options


def run(algorithm, problem, rounds=12, seed=SEED, threads=1, **options):
    options = {"clients": M, "local_steps": K, "batch": BATCH, "eval_rounds": 1} | options
    return Simulation(algorithm, problem, Setting(rounds=rounds, **options), seed, threads=threads).run()


def walk(problem, buffer, concurrency, rounds, step):
    """Return the times of the server's steps, the clients whose messages they took, and the models after them.

    Events are a list that is searched for the next one. step: Function of the model and of what arrived, triples of the
    steps that the server had made in the meantime, the model that the client was handed, and the client's own.
    """
    rates, operations = COST_MODELS.build(VARIED).rates(M), 4.0 * problem.A.shape[1]
    x, clock, steps, events, arrived, begun = problem.start(SEED), 0.0, [], [], [], [0] * M
    bits = 8 * (8 * len(x)) * 1.0
    while len(steps) < rounds:
        if not any(event[0] == clock for event in events):
            while len(events) < concurrency:
                idle = sorted(set(range(M)) - {client for _, client, *_ in events})
                client = idle[stream(SEED, "participation", sum(begun)).integers(len(idle))]
                rows = problem.partition.client(client)
                draws = stream(SEED, "samples", begun[client], client).integers(len(rows), size=K * BATCH)
                y = x
                for minibatch in rows[draws].reshape(K, BATCH):
                    y = y - LR * problem.batch(np.array([client]), minibatch[None]).grad(y)[0]
                sending = 0.3 + bits / rates.up[client] + K * 0.01 + K * BATCH * operations / rates.compute[client]
                events.append((clock + (bits / rates.down[client] + sending), client, len(steps), x, y))
                begun[client] += 1
        event = min(events, key=lambda event: event[:2])
        events.remove(event)
        clock = event[0]
        arrived.append((event[1], (len(steps) - event[2], *event[3:])))
        if len(arrived) == buffer:
            x = step(x, [change for _, change in arrived])
            steps.append((clock, [client for client, _ in arrived], x))
            arrived = []
    return steps


def assert_walked(algorithm, problem, walked, **options):
    setting = Setting(clients=M, local_steps=K, batch=BATCH, rounds=len(walked), driver=driver(**options))
    simulation = Simulation(algorithm, problem, setting, SEED)
    for clock, _, x in walked:
        simulation.run_round()
        assert simulation.costs["simulated_seconds"] == clock and (simulation.output == x).all()
    assert not simulation.inspector.copies(simulation.s)  # after two steps of the server no State is copied


@pytest.mark.parametrize(("buffer", "concurrency"), [(1, 3), (3, 3), (3, 2), (3, 5), (1, 1)])
def test_fedavg_is_fedbuff(buffer, concurrency):
    def step(x, arrived):
        total = 0.0
        for late, start, y in arrived:
            total = (1 + late) ** -0.7 * (y - start) + total
        return x + total / buffer

    walked = walk(logistic(), buffer, concurrency, 20, step)
    algorithm = ALGORITHMS.create("fedavg", {"lr": LR})
    assert_walked(algorithm, logistic(), walked, buffer=buffer, concurrency=concurrency, staleness=0.7)


def test_fedasync_mixes_each_model_into_its_own():
    def step(x, arrived):
        ((late, _, y),) = arrived
        weight = (1 + late) ** -0.5
        return (1 - 0.6 * weight) * x + 0.6 * (weight * y)

    walked = walk(logistic(), 1, 4, 20, step)
    assert len({clock for clock, *_ in walked}) == 20
    assert_walked(ALGORITHMS.create("fedasync", {"lr": LR, "alpha": 0.6}), logistic(), walked, buffer=1, concurrency=4)


def equal():
    """Return logistic regression of clients with equally many rows."""
    problem = logistic(heterogeneous=False)
    split = partitions.split({"kind": "iid"}, (problem.b > 0).astype(int), M)
    return Logistic(problem.A, problem.b > 0, problem.l2, split)


SETTINGS = [{"schedule": {"kind": "inverse-sqrt"}}, {"local_steps": None, "local_epochs": 2}, {"batch": None}]


@pytest.mark.filterwarnings("ignore")
def test_equal_clients_and_a_full_buffer_are_synchronous_rounds():
    problem, ran, refused = equal(), set(), set()
    for name in ALGORITHMS.names():
        algorithm = example(name, lr=0.05, p=0.4, lam=1.0, b=0.5)
        for options in SETTINGS:
            try:
                driver_options = driver(buffer=M, concurrency=M, model=ALIKE, staleness=0)
                alone = run(algorithm, problem, 3, driver=driver_options, **options)
            except UserError:
                refused.add(name)
                continue
            result = run(algorithm, problem, 3, **options)
            for row in alone.rows:
                clock = row.pop("simulated_seconds")
                assert (clock > 0) == (row["round"] > 0)
            assert same(alone, result), (name, options)
            ran.add(name)
    assert {"fedavg", "fedprox", "fedadam", "scaffold", "fedcm", "mifa", "fedasync"} <= ran
    assert {"feddyn", "fedspeed", "fedac-1", "mime", "mimelite", "fedpd", "dsgd", "fedawe"} & set(
        ALGORITHMS.names()
    ) <= refused


def test_costs_are_means_over_messages(monkeypatch):
    problem, senders, step = unequal_clients(), [], Simulation.step

    def spy(simulation, arrivals, weights):
        senders.append([message.client for message in arrivals])
        step(simulation, arrivals, weights)

    monkeypatch.setattr(Simulation, "step", spy)
    history = run(example("fedavg", lr=LR), problem, 12, batch=None, local_steps=2, driver=driver())
    sizes, (*_, last) = problem.partition.sizes, history.rows
    assert last["vectors_up"] == last["vectors_down"] == 12 and last["gradients"] == 24
    assert last["samples"] == sum(2 * sizes[clients].mean() for clients in senders)
    parts = history.ledger.split(range(13))[1:]
    for ((profile, _),), clients in zip(parts, senders, strict=True):
        gradients, samples = profile[0].work(sizes[sorted(clients)], None)
        assert (gradients == 2).all() and samples.mean() == 2 * sizes[clients].mean()


@pytest.mark.parametrize("rounds", range(1, 7))
@pytest.mark.parametrize("model", [ALIKE, VARIED], ids=["alike", "varied"])
def test_interrupted_runs_have_the_same_bits(rounds, model, tmp_path):
    setting = Setting(
        clients=M,
        local_steps=2,
        batch=2,
        rounds=7,
        eval_rounds=3,
        driver=driver(model=model, concurrency=5, staleness=0),
    )
    _, expected = never(logistic(), ["scaffold", "fedavg"], setting)
    with pytest.raises(Stopped):
        never(logistic(), ["scaffold", "fedavg"], setting, stopped_after(rounds, tmp_path / "a.state"))
    _, again = never(logistic(), ["scaffold", "fedavg"], setting, resumed(tmp_path / "a.state"))
    assert all(map(same, again, expected))


@pytest.mark.parametrize("problem", [softmax, pytest.param(network, marks=pytest.mark.slow)])
def test_neither_threads_nor_a_second_run_change_a_bit(problem):
    histories = [run(example("fedavg", lr=0.1), problem(), 6, driver=driver(), threads=n) for n in (1, 1, 3)]
    assert all(same(histories[0], other) for other in histories[1:])


class Models(Algorithm):
    """Models sends models, of which late ones cannot weigh less."""

    name = "models"

    def client(self, s, i, steps):
        return State(x=s.x - sum(g(s.x) for g in steps)), State()

    def server(self, s, mean, n):
        return State(x=mean.x)


class Exchanging(Models):
    name = "exchanging"

    def before(self, s, i, steps):
        return State(c=s.x)


class Waiting(Models):
    name = "waiting"

    def receive(self, s, i):
        return i


class Drawn(Models):
    name = "drawn"

    def single_client(self):
        return True


class Everybody(Models):
    name = "everybody"
    full_participation = True


class Long(Models):
    name = "long"

    def length(self, K, rng):
        return int(rng.integers(1, 3))


@pytest.mark.parametrize(
    ("algorithm", "reason"),
    [
        (Models, "messages of weight 0 would move its model"),
        (Exchanging, "in a first exchange"),
        (Waiting, "wait for the server's step"),
        (Drawn, "one client alone computes"),
        (Everybody, "full participation only"),
        (Long, "one length of a round"),
    ],
)
def test_algorithms_that_cannot_run_are_refused_with_the_reason(algorithm, reason):
    with pytest.raises(Undefined, match=f"algorithm {algorithm.name}.*{reason}"):
        run(algorithm(), logistic(), driver=driver())


def test_states_of_clients_need_messages_that_all_weigh_1():
    with pytest.raises(UserError, match=r"algorithm scaffold: what its clients keep .* staleness: 0"):
        run(example("scaffold"), logistic(), driver=driver())


def test_messages_to_different_clients_have_draws_of_their_own():
    """A client's own number of the round is not the server's: the first message to each client is number 0."""
    problem, seen = logistic(), []

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Received(FedAvg):
        def client(self, s, i, steps):
            seen.append((steps.clients[0], steps.round, frozenset(np.flatnonzero(s.x))))
            return super().client(s, i, steps)

    channel = {"down": {"kind": "rand-k", "count": 3}}
    run(Received(lr=LR), problem, rounds=20, driver=driver(), channel=channel)
    first = [entries for _, number, entries in seen if number == 0]
    assert len(first) == M and len(set(first)) > 1
