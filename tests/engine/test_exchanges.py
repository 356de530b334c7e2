"""The ledger of a run says what each client received, sent and computed in each round."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedatlas.errors import UserError
from fedatlas.federation.engine.exchanges import Exchange, Ledger
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.testing.instances import unequal_shares
from tests.helpers import each_algorithm, example, logistic, quadratic
from tests.walk import Part, Walk

M, ROUNDS = 5, 4
SOME = {"kind": "uniform", "count": 3}
SETTINGS = [
    {"local_steps": 3, "batch": 2, "participation": SOME},
    {"local_steps": 3, "batch": 2, "participation": {"kind": "stationary", "p": 0.2}},
    {"local_epochs": 2, "batch": 4, "full_gradients": "minibatch"},
    {"local_epochs": 2, "batch": 4, "participation": SOME},
    {"local_steps": 3, "batch": None},
]
PROBLEMS = [  # shared data and quadratics differ from split data in draws and full gradients alone
    (unequal_shares(logistic()), SETTINGS[1:4]),
    (logistic(heterogeneous=False), SETTINGS[:1]),
    (quadratic(clients=M), SETTINGS[4:]),
]


def cases(name, seed=0):
    """Yield the algorithm with each problem and setting for which it is defined."""
    for problem, settings in PROBLEMS:
        for options in settings:
            setting = Setting(clients=M, rounds=ROUNDS, eval_rounds=3, **options)
            try:
                algorithm = example(name, lr=0.05, p=0.4, lam=1.0, b=0.5, max_steps=30, head=1).with_constants(problem)
                Simulation(algorithm, problem, setting, seed)
            except UserError:  # the algorithm is not defined here
                continue
            yield algorithm, problem, setting


def profiles(ledger):
    """Return the profile of every round."""
    return [profile for profile, rounds in ledger for _ in range(rounds)]


def parts_of(simulation, ledger):
    """Return what `Walk.parts` holds, from a ledger, without the parts in which nothing was done."""
    rounds, setting = [], simulation.setting
    for t, profile in enumerate(profiles(ledger)):
        ids = simulation.participants.active(t)
        of_round = {i: [] for i in ids.tolist()}
        for exchange in profile:
            work = exchange.work(simulation.sampler.sizes(ids), setting.batch)
            down, up, gradients, samples = (
                np.broadcast_to(amount, len(ids)) for amount in (exchange.down, exchange.up, *work)
            )
            for k, i in enumerate(ids.tolist()):
                alone = exchange.client is None or exchange.client == i
                bits = None if exchange.bits_up is None else np.broadcast_to(exchange.bits_up, len(ids))[k]
                did = (up[k], gradients[k], samples[k], bits) if alone else (0, 0, 0)
                of_round[i].append(Part(exchange.hook, down[k], *did))
        rounds.append({i: [part for part in parts if any(part[1:])] for i, parts in of_round.items()})
    return rounds


def means(simulation, parts):
    """Return the costs of a run by the parts of its clients. Where a client is drawn, costs are those of this one."""
    totals, single_client = (
        dict.fromkeys(("down", "up", "gradients", "samples"), 0.0),
        simulation.algorithm.single_client(),
    )
    for of_round in parts:
        for part in itertools.chain(*of_round.values()):
            for field in totals:
                alone = single_client and part.hook == "client" and field != "down"
                totals[field] += getattr(part, field) / (1 if alone else len(of_round))
    return list(totals.values())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", each_algorithm())
def test_the_ledger_is_what_each_client_did(name):
    """It is so for any blocks and threads; and the costs of rows are its means."""
    tried = 0
    for algorithm, problem, setting in cases(name):
        walk = Walk(algorithm, problem, setting)
        row = walk.run().rows[-1]
        expected = [{i: [p for p in parts if any(p[1:])] for i, parts in of.items()} for of in walk.parts]
        assert parts_of(walk, walk.ledger) == expected
        costs = [row[name] for name in ("vectors_down", "vectors_up", "gradients", "samples")]
        assert means(walk, expected) == pytest.approx(costs, rel=1e-12)
        assert Simulation(algorithm, problem, setting, 0, block=2, threads=2).run().ledger == walk.ledger
        tried += 1
    assert tried


AMOUNTS = st.one_of(
    st.integers(0, 9), st.sampled_from([0.5, 1 / 3]), st.lists(st.integers(0, 9), min_size=1).map(tuple)
)
HOOKS, IDS = st.sampled_from(["before", "client"]), st.one_of(st.none(), st.integers(0, 3))
EXCHANGES = st.builds(Exchange, HOOKS, *[AMOUNTS] * 6, IDS, *[st.none() | AMOUNTS] * 2)


@given(st.lists(st.lists(EXCHANGES, max_size=2).map(tuple), max_size=12), st.data())
def test_a_ledger_is_split_and_read_back(rounds, data):
    ledger = Ledger()
    for profile in rounds:
        ledger.add(profile)
    assert profiles(ledger) == rounds and Ledger.parse(ledger.text()) == ledger
    assert [len(list(group)) for _, group in itertools.groupby(rounds)] == [n for _, n in ledger]
    ends = [*sorted(data.draw(st.lists(st.integers(0, len(rounds)), max_size=4))), len(rounds)]
    parts = ledger.split(ends)
    assert [profiles(part) for part in parts] == [rounds[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    assert set(json.loads(ledger.text())) == {"profiles", "rounds"}
