"""Clients that are not always available: identities and bounds of the FedAWE paper, reductions and biases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedatlas import UserError
from fedatlas.federation import algorithms, problems
from fedatlas.federation.algorithms.fedawe import FedAWE
from fedatlas.federation.arrays import State, to_numpy
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.testing import transcriptions
from fedatlas.testing.plain_run import PlainRun
from tests.helpers import example, logistic, network

MASKS = st.integers(2, 6).flatmap(
    lambda m: st.lists(st.lists(st.booleans(), min_size=m, max_size=m), min_size=1, max_size=12)
)


class Echoes:
    """Steps with one gradient, which is 1: the innovation G of FedAWE is 1 in every round."""

    def __init__(self, round, m):
        self.round, self.m = round, m

    def __iter__(self):
        yield lambda y: np.ones((self.m, 1))


@given(MASKS)
def test_proposition_1(masks):
    """A client that is active in round R - 1 has echoed R innovations in all rounds."""
    active = np.array(masks)
    algorithm = FedAWE(lr=1.0)
    _, first = algorithm.init(np.zeros(1))
    tau, echoed = np.full((active.shape[1], 1), first.tau, float), np.zeros(active.shape[1])
    for t, row in enumerate(active):
        ids = np.flatnonzero(row)
        x = np.zeros((len(ids), 1))
        sent, client_state = algorithm.client(State(x=np.zeros(1)), State(x=x, tau=tau[ids]), Echoes(t, len(ids)))
        echoed[ids] += -sent.x[:, 0]  # x_i - (t - tau_i) G with x_i = 0, G = 1
        tau[ids] = client_state.tau
        np.testing.assert_array_equal(echoed[ids], t + 1)


def mixing(active, m):
    """The matrix W of equation (4). active: ids. m: number of clients."""
    W = np.eye(m)
    W[np.ix_(active, active)] = 1 / len(active) if len(active) else 0
    return W


@given(MASKS)
def test_the_mixing_matrix_is_doubly_stochastic_and_a_projection(masks):
    for row in np.array(masks):
        W = mixing(np.flatnonzero(row), len(row))
        np.testing.assert_allclose(W.sum(axis=0), 1)
        np.testing.assert_allclose(W.sum(axis=1), 1)
        np.testing.assert_allclose(W @ W, W, atol=1e-12)


@settings(deadline=None, max_examples=15)
@given(MASKS, st.integers(0, 5))
def test_fedawe_mixes_by_w(masks, seed):
    """Without gradients, the x_i are the first x_i multiplied by the matrices W."""
    active = np.array(masks)
    m = active.shape[1]
    algorithm, rng = FedAWE(lr=1.0), np.random.default_rng(seed)
    X = rng.standard_normal((m, 3))
    expected = X.copy()
    for t, row in enumerate(active):
        ids = np.flatnonzero(row)
        if not len(ids):
            continue
        none = type("Steps", (), {"round": t, "__iter__": lambda self: iter(())})()
        sent, _ = algorithm.client(State(x=np.zeros(3)), State(x=X[ids], tau=np.zeros((len(ids), 1))), none)
        s = algorithm.server(State(x=np.zeros(3), mean=np.zeros(3)), State(x=sent.x.mean(axis=0)), None)
        X[ids] = algorithm.receive(s, None).x
        expected = mixing(ids, m) @ expected
    np.testing.assert_allclose(X, expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["stationary", "sine", "staircase"])
def test_consensus_contracts_as_lemma_1_says(kind):
    """E|B (W^1 ... W^t - J)|^2 <= rho^t |B|^2 with rho of Lemma 4; delta is the smallest probability."""
    m, rounds, repeats = 4, 30, 300
    setting = Setting(clients=m, rounds=1, participation={"kind": kind, "p": [0.9, 0.6, 0.8, 0.7]})
    probabilities = setting.participation_kind.bind(None, m, 0).probabilities
    delta = min(probabilities(t).min() for t in range(rounds))
    rho = 1 - delta**4 * (1 - (1 - delta) ** m) ** 2 / 8
    assert 0 < rho < 1
    B = np.random.default_rng(0).standard_normal((5, m))
    J = np.full((m, m), 1 / m)
    distances = np.zeros((repeats, rounds))
    for seed in range(repeats):
        participants, product = setting.participation_kind.bind(None, m, seed), np.eye(m)
        for t in range(rounds):
            product = product @ mixing(participants.active(t), m)
            distances[seed, t] = np.linalg.norm(B @ (product - J)) ** 2
    bound = rho ** np.arange(1, rounds + 1) * np.linalg.norm(B) ** 2
    error = distances.std(axis=0) / np.sqrt(repeats)
    assert (distances.mean(axis=0) + 4 * error <= bound).all()
    assert distances[:, -1].mean() < 1e-3 * np.linalg.norm(B) ** 2  # the distance really shrinks


# --- reductions ---

WITH_EVERYBODY = [
    ("fedawe", {}),
    ("fedawe", {"report": "mean"}),
    ("fedavg-active", {}),
    ("fedavg-all", {}),
    ("fedavg-known-p", {}),
    ("fedau", {}),
    ("f3ast", {}),
    ("mifa", {}),
    ("fedvarp", {}),
]


@pytest.mark.parametrize("name, parameters", WITH_EVERYBODY, ids=lambda case: str(case))
def test_all_are_fedavg_under_full_participation(name, parameters):
    problem = logistic()
    setting = Setting(clients=5, local_steps=3, rounds=6, batch=2, participation={"kind": "stationary", "p": 1.0})
    runs = [
        Simulation(example(n, server_lr=0.7, **p), problem, setting, seed=1).run().x
        for n, p in (("fedavg", {}), (name, parameters))
    ]
    np.testing.assert_allclose(*runs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "name, parameters",
    [
        ("fedawe", {"clip": 0.05}),
        ("fedawe", {"report": "mean"}),
        ("fedawe", {"report": "mean", "clip": 0.05, "server_lr": 0.5}),
        ("fedau", {"cutoff": 2}),
        ("fedau", {"cutoff": 1}),
        ("f3ast", {"beta": 0.5, "r0": 0.3}),
        ("f3ast", {"beta": 0.1, "r0": "p"}),
        ("mifa", {"server_lr": 0.5}),
        ("fedvarp", {"server_lr": 0.5}),
        ("fedavg-known-p", {"server_lr": 0.5}),
    ],
    ids=str,
)
def test_options_equal_the_transcription_over_long_absences(name, parameters):
    problem = logistic()
    spec = {"kind": "interleaved-sine", "p": [0.6, 0.14, 0.2, 0.12, 0.3], "period": 8}
    setting = Setting(clients=5, local_steps=2, rounds=40, batch=2, participation=spec)
    simulation = Simulation(example(name, **parameters), problem, setting, seed=2)
    run = PlainRun(problem, setting, 2, name)
    assert any(not len(run.S(t)) for t in range(40))
    values = {f: getattr(simulation.algorithm, f) for f in simulation.algorithm.options()}
    for t, expected in enumerate(transcriptions.find(name)(run, **values)):
        simulation.run_round()
        np.testing.assert_allclose(simulation.output, expected, rtol=1e-9, atol=1e-11, err_msg=f"round {t}")


@pytest.mark.parametrize("schedule", [{"kind": "constant"}, {"kind": "exponential", "decay": 0.5}], ids=str)
def test_mifa_moves_while_no_client_is_available(tmp_path, schedule):
    """MIFA moves by remembered gradients with the step size of the round; the other algorithms do not move."""
    path = tmp_path / "trace.csv"
    path.write_text("round,client,available\n0,0,1\n0,1,1\n1,0,0\n2,0,0\n")
    problem = problems.create({"kind": "quadratic", "centers": [[0.0], [100.0]]}, 2)
    participation = {"kind": "trace", "file": str(path)}
    setting = Setting(clients=2, rounds=3, batch=None, participation=participation, schedule=schedule)
    for name, moves in (("mifa", True), ("fedvarp", False), ("fedavg", False), ("fedawe", False)):
        simulation = Simulation(algorithms.create(name, {"lr": 0.1}), problem, setting, seed=0)
        xs = [float(simulation.output[0])]
        for _ in range(3):
            simulation.run_round()
            xs.append(float(simulation.output[0]))
        steps = 0.1 * (50 - xs[0]) * np.array([1, 0.5, 0.25] if schedule["kind"] == "exponential" else [1, 1, 1])
        np.testing.assert_allclose(np.diff(xs), steps if moves else [steps[0], 0, 0], rtol=1e-9, atol=1e-12)


# --- bias ---


def time_mean(name, p, rounds=1200, lr=0.05):
    """The mean output over the second half of the rounds and over seeds in Example 1, and its standard error."""
    problem = problems.create({"kind": "quadratic", "centers": [[0.0], [100.0]], "start_scale": 0.0}, 2)
    setting = Setting(clients=2, rounds=rounds, batch=None, participation={"kind": "stationary", "p": p})
    means = []
    for seed in range(5):
        simulation = Simulation(algorithms.create(name, {"lr": lr}), problem, setting, seed=seed)
        total = 0.0
        for t in range(rounds):
            simulation.run_round()
            total += float(simulation.output[0]) * (t >= rounds // 2)
        means.append(total / (rounds - rounds // 2))
    return np.mean(means), np.std(means, ddof=1) / np.sqrt(len(means))


def test_fedavg_over_active_clients_is_biased_as_in_example_1():
    p1, p2 = 0.8, 0.2
    mean, error = time_mean("fedavg-active", [p1, p2])
    limit = ((1 - p1) * p2 * 100 + p1 * p2 * 50) / (1 - (1 - p1) * (1 - p2))
    assert abs(limit - 50) > 30 and error < 3
    assert abs(mean - limit) < 5 * error


@pytest.mark.parametrize("name", ["fedavg-known-p", "mifa"])
def test_known_probabilities_and_memory_are_unbiased(name):
    mean, error = time_mean(name, [0.8, 0.2])
    assert error < 4 and abs(mean - 50) < 5 * error


def test_known_p_gives_the_round_of_full_participation_in_expectation():
    """The expectation is the exact sum over all sets of active clients."""
    p = np.array([0.3, 0.8, 0.5])
    D = np.random.default_rng(0).standard_normal((3, 4))
    algorithm = algorithms.create("fedavg-known-p", {"lr": 0.1, "server_lr": 0.7})
    total = np.zeros(4)
    for code in range(8):
        active = np.array([code >> i & 1 for i in range(3)], bool)
        chance = np.prod(np.where(active, p, 1 - p))
        if active.any():
            n = type("N", (), {"active": active.sum(), "clients": 3})
            mean = State(delta=(D / p[:, None])[active].mean(axis=0))
            total += chance * algorithm.server(State(x=np.zeros(4)), mean, n).x
    np.testing.assert_allclose(total, 0.7 * D.mean(axis=0), rtol=1e-12)


def test_fedavg_with_known_p_refuses_unknown_probabilities(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("round,client,available\n0,0,1\n")
    setting = Setting(clients=5, rounds=1, participation={"kind": "trace", "file": str(path)})
    with pytest.raises(UserError, match="probabilities of this participation are unknown"):
        Simulation(example("fedavg-known-p"), logistic(), setting).run()


@pytest.mark.parametrize("name", [name for name, _ in WITH_EVERYBODY[1:]])
def test_runs_on_networks(name):
    problem = network({"kind": "mlp", "hidden": [4]}, dtype="float32")
    setting = Setting(clients=5, rounds=4, batch=2, participation={"kind": "markov", "p": 0.5, "persistence": 0.5})
    trace = Simulation(example(name), problem, setting, seed=0).run()
    assert np.isfinite(to_numpy(trace.x)).all() and to_numpy(trace.x).dtype == np.float32
