"""Clients that the server chooses: Power-of-Choice against a loop of its own, its costs, and wrong choices."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation.costs import COST_MODELS
from fedatlas.federation.engine.exchanges import Ledger
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.participation.base import Participants, Participation
from fedatlas.federation.streams import stream
from fedatlas.results.costs.elapsed import ActiveClients, Workload, seconds
from fedatlas.testing.instances import quadratic, unequal_clients
from tests.helpers import example

M, ROUNDS, COUNT, CANDIDATES, SEED = 5, 6, 2, 4, 3
POWER = {"kind": "power-of-choice", "count": COUNT, "candidates": CANDIDATES}


def simulate(problem, participation, algorithm="fedavg", **options):
    """Return a simulation of full-gradient steps, without a row of its history."""
    setting = Setting(clients=M, rounds=ROUNDS, local_steps=3, batch=None, participation=participation, **options)
    return Simulation(example(algorithm, lr=0.3), problem, setting, SEED)


@pytest.mark.parametrize("weights", ["equal", "size"])
def test_power_of_choice_is_fedavg_on_the_candidates_of_largest_loss(weights):
    problem = unequal_clients(weights)
    A, b, split = problem.A, problem.b, problem.partition
    simulation = simulate(problem, POWER)
    history = simulation.run()
    x, p = problem.start(SEED), np.full(M, 1 / M) if weights == "equal" else split.sizes / split.sizes.sum()
    factors, chosen = M * p, []

    def margin(i, y):
        return b[split.client(i)] * (A[split.client(i)] @ y)

    for t in range(ROUNDS):
        draws = stream(SEED, "participation", t).choice(M, CANDIDATES, replace=False)
        losses = {i: np.log1p(np.exp(-margin(i, x))).mean() for i in draws}
        active = sorted(sorted(losses, key=losses.get)[-COUNT:])
        ys = []
        for i in active:
            y = x
            for _ in range(3):
                pull = -(A[split.client(i)] * (b[split.client(i)] / (1 + np.exp(margin(i, y))))[:, None]).mean(axis=0)
                y = y - 0.3 * (factors[i] * pull + problem.l2 * y)
            ys.append(y)
        x = np.mean(ys, axis=0)
        chosen.append(tuple(map(int, active)))
    np.testing.assert_allclose(history.x, x, rtol=1e-12)
    assert [profile[1].ids for profile, rounds in history.ledger for _ in range(rounds)] == chosen
    assert len(set(chosen)) > 1


@pytest.mark.parametrize("weights", ["equal", "size"])
def test_with_no_more_candidates_than_active_clients_it_is_uniform_sampling(weights):
    """Its mean over rounds is then that of all clients, whose objectives hold their weights."""
    problem = unequal_clients(weights)
    power = simulate(problem, POWER | {"candidates": COUNT}, "scaffold").run()
    uniform = simulate(problem, {"kind": "uniform", "count": COUNT}, "scaffold").run()
    assert power.x.tobytes() == uniform.x.tobytes()


def test_costs_hold_the_questions_to_all_candidates():
    problem = unequal_clients()
    simulation = simulate(problem, POWER)
    history = simulation.run()
    sizes, d, word = problem.partition.sizes, problem.dim, 64
    sent, samples, model = 0.0, 0.0, COST_MODELS.build({"kind": "rates", "compute": 1e4, "down": 4e3, "up": 1e3})
    rates, times, attendance = model.rates(M), [], []
    for t, profile in enumerate(p for p, rounds in history.ledger for _ in range(rounds)):
        candidates = np.sort(stream(SEED, "participation", t).choice(M, CANDIDATES, replace=False))
        question, step = profile
        assert question.ids == tuple(candidates.tolist()) and set(step.ids) < set(question.ids)
        sent += 1 + CANDIDATES / COUNT / d
        samples += 3 * sizes[list(step.ids)].sum() / COUNT + sizes[candidates].sum() / COUNT
        duration = {}
        for i in candidates:
            duration[i] = word * d / rates.down[i] + word / rates.up[i] + sizes[i] * 40 / rates.compute[i]
        for i in step.ids:
            duration[i] += word * d / rates.down[i] + word * d / rates.up[i] + 3 * sizes[i] * 40 / rates.compute[i]
        times.append(max(duration.values()))
        attendance.append(candidates)
    costs = history.rows[-1]
    assert costs["vectors_up"] == pytest.approx(sent) and costs["bits_up"] == pytest.approx(sent * d * word)
    assert costs["vectors_down"] == pytest.approx(ROUNDS * (1 + CANDIDATES / COUNT))
    assert costs["gradients"] == pytest.approx(ROUNDS * (3 + CANDIDATES / COUNT))
    assert costs["samples"] == pytest.approx(samples)
    clients = ActiveClients(np.concatenate(attendance), np.cumsum([0, *map(len, attendance)]))
    workload = Workload(8 * d, 40, np.asarray(sizes), None)
    elapsed = seconds(model, workload, clients, [Ledger.parse(history.ledger.text())])
    assert elapsed[-1] == pytest.approx(sum(times))


@dataclass(frozen=True, kw_only=True)
class Chooser(Participation):
    """A rule of the tests, whose choice is a class attribute: a function of t, candidates and view."""

    name = "chooser"
    rule = staticmethod(lambda t, candidates, view: candidates)

    def bind(self, problem, clients, seed):
        return Participants(lambda t: np.arange(clients), lambda t: None, type(self).rule)


def choose(rule):
    """Return the active clients and exchanges of the first round of a run with a rule."""
    simulation = simulate(quadratic(clients=M), "full")
    participants = type("Rule", (Chooser,), {"rule": staticmethod(rule)})().bind(None, M, SEED)
    chooser = replace(simulation.choice, participants=participants)
    return chooser.active(0, simulation.s, simulation.algorithm.output)


def test_a_rule_may_read_the_state_without_asking_a_client():
    ids, exchanges = choose(lambda t, candidates, view: candidates[: 1 + len(view.s.x) % 2])
    assert len(ids) in (1, 2) and exchanges == ()
    assert len(choose(lambda t, candidates, view: candidates[:0])[0]) == 0


@pytest.mark.parametrize("ids", [[0, 0], [7], [-1]])
def test_a_choice_that_is_no_candidate_is_an_error(ids):
    with pytest.raises(UserError, match="must choose different clients of its candidates"):
        choose(lambda t, candidates, view: np.array(ids))


@pytest.mark.parametrize("count, candidates", [(3, 2), (1, 6)])
def test_candidates_lie_between_count_and_clients(count, candidates):
    with pytest.raises(UserError, match=f"candidates is {candidates}; it must be a whole number between"):
        Setting(clients=M, rounds=1, participation=POWER | {"count": count, "candidates": candidates})


def test_algorithms_that_need_probabilities_are_refused_with_the_reason():
    with pytest.raises(UserError, match="are unknown"):
        simulate(unequal_clients(), POWER, "fedavg-known-p").run()
