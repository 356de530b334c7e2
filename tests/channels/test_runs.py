"""Runs over channels: each equals a plain loop, and neither blocks, threads nor interruptions change a bit."""

import dataclasses

import numpy as np
import pytest

from fedatlas import UserError
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.dependencies import cell_modules
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.arrays import State, to_numpy
from fedatlas.federation.channels import CHANNELS, Coded
from fedatlas.federation.engine.channels import DOWN, UP
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation, run_simulations
from fedatlas.federation.streams import stream
from tests.engine.test_checkpoint import Stopped, resumed, same, stopped_after
from tests.helpers import example, logistic, network, quadratic, twin

M, LR = 5, 0.1


KEPT = {"kind": "top-k", "count": 2, "error_feedback": True}


BOTH = {"up": {"kind": "qsgd", "levels": 3, "error_feedback": False}, "down": {"kind": "top-k", "count": 2}}


def simulate(name="fedavg", problem=None, block=None, threads=1, parameters=None, **options):
    options = {"clients": M, "local_steps": 2, "rounds": 6, "batch": None, "eval_rounds": 2} | options
    algorithm = example(name, lr=LR, **(parameters or {}))
    return Simulation(algorithm, problem or logistic(), Setting(**options), 3, block, threads)


def kind(spec):
    return CHANNELS.build(spec)


def coded(channel, v, *index):
    """What arrives of a vector, by the stream of a run of seed 3."""
    return channel.code(v[None], lambda _: stream(3, "channel", *index)).rows[0]


def test_error_feedback_up_is_that_of_a_plain_loop():
    problem = logistic()
    options = {"channel": KEPT, "participation": {"kind": "uniform", "count": 3}}
    simulation = simulate(problem=problem, **options)
    x, errors, bits = simulation.x0, np.zeros((M, problem.dim)), 0
    for t in range(6):
        total = 0
        active = simulation.participants.active(t)
        for i in active:
            y = x
            for _ in range(2):
                y = y - LR * problem.full_batch(np.array([i])).grad(y)[0]
            v = y - x + errors[i]
            sent = np.where(np.abs(v) >= np.sort(np.abs(v))[-2], v, 0)
            errors[i] = v - sent
            total = total + sent
        x = x + total / len(active)
        bits += 2 * (64 + 3)
        simulation.run_round()
        np.testing.assert_allclose(simulation.output, x, rtol=1e-12)
    assert simulation.costs["bits_up"] == bits and simulation.costs["vectors_up"] == 6
    assert simulation.costs["bits_down"] == 6 * 64 * problem.dim


def test_both_directions_are_those_of_a_plain_loop():
    """SCAFFOLD sends two vectors each way."""
    problem = logistic()
    simulation = simulate("scaffold", problem, channel=BOTH)
    x, c, c_i = simulation.x0, np.zeros(problem.dim), np.zeros((M, problem.dim))
    up, down = kind(BOTH["up"]), kind(BOTH["down"])
    for t in range(6):
        copies = [coded(down, v, t, 0, DOWN, 0, j) for j, v in enumerate((x, c))]
        total = np.zeros((2, problem.dim))
        for i in range(M):
            y = copies[0]
            for _ in range(2):
                y = y - LR * (problem.full_batch(np.array([i])).grad(y)[0] - c_i[i] + copies[1])
            new = c_i[i] - copies[1] + (copies[0] - y) / (2 * LR)
            for j, v in enumerate((y - copies[0], new - c_i[i])):
                total[j] += coded(up, v, t, i, UP, 1, j)
            c_i[i] = new
        x, c = x + total[0] / M, c + total[1] / M
        simulation.run_round()
        np.testing.assert_allclose(simulation.output, x, rtol=1e-11)
    assert simulation.costs["bits_down"] == 6 * 2 * 2 * (64 + 3)
    assert simulation.costs["bits_up"] == 6 * 2 * (64 + problem.dim * 3)


@pytest.mark.parametrize("name", ["scaffold", "mime"])
def test_blocks_threads_and_interruptions_change_no_bit(name, tmp_path):
    options = {"channel": BOTH, "batch": 2}
    expected = simulate(name, **options).run()
    for block, threads in ((1, 1), (2, 2)):
        assert same(simulate(name, block=block, threads=threads, **options).run(), expected)
    variant = {**options, "channel": KEPT}
    assert same(simulate(name, block=1, threads=3, **variant).run(), simulate(name, **variant).run())
    for rounds in (1, 3, 5):
        path = tmp_path / f"{rounds}.state"
        with pytest.raises(Stopped):
            run_simulations([simulate(name, **options)], keep=stopped_after(rounds, path))
        assert same(run_simulations([simulate(name, **options)], keep=resumed(path))[0], expected)


def test_errors_of_clients_are_in_checkpoints(tmp_path):
    options = {"channel": KEPT, "participation": {"kind": "uniform", "count": 2}, "state": "disk"}
    expected = simulate(**options).run()
    for rounds in (1, 4):
        path = tmp_path / f"{rounds}.state"
        with pytest.raises(Stopped):
            run_simulations([simulate(**options)], keep=stopped_after(rounds, path))
        assert same(run_simulations([simulate(**options)], keep=resumed(path))[0], expected)


def test_numpy_and_torch_agree():
    problem = logistic()
    for channel in (KEPT, {"kind": "rand-k", "count": 3}):
        runs = [simulate(problem=objective, channel=channel).run() for objective in (problem, twin(problem))]
        np.testing.assert_allclose(runs[0].x, to_numpy(runs[1].x), rtol=1e-10)
        assert runs[0].rows[-1]["bits_up"] == runs[1].rows[-1]["bits_up"]
    assert simulate(problem=network({"kind": "mlp", "hidden": [5]}), channel="natural").run().status == "ok"


def test_neighbours_get_coded_messages():
    """W C(v) for j other than i; the own vector is not coded."""
    problem = quadratic()
    simulation = simulate("sonata", problem, parameters={"tau": 5.0, "graph": "ring"}, channel=KEPT, rounds=1)
    calls = []
    mix = simulation.clients.mixing.mix
    simulation.clients.mixing.mix = lambda rows, vectors=None: (calls.append((rows, vectors)), mix(rows, vectors))[1]
    simulation.run_round()
    exchanges = [(rows, vectors) for rows, vectors in calls if vectors is not None]
    for rows, vectors in exchanges:
        W = simulation.clients.mixing.W
        expected = np.stack([sum(W[i, j] * (vectors if i == j else rows)[j] for j in range(M)) for i in range(M)])
        np.testing.assert_allclose(mix(rows, vectors), expected, rtol=1e-12, atol=1e-14)
        assert (np.count_nonzero(rows, axis=1) == 2).all() and (np.count_nonzero(vectors, axis=1) > 2).any()
    assert simulation.costs["bits_up"] == simulation.costs["bits_down"] == 2 * 2 * len(exchanges) * (64 + 3)


def test_an_algorithm_counts_what_it_codes_itself():
    base = ALGORITHMS.get("fedavg")

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Halves(base):
        """Sends the first half of its change."""

        def client(self, s, i, steps):
            message, state = super().client(s, i, steps)
            (name, delta), *_ = message.items()
            half = np.where(np.arange(delta.shape[-1]) < 3, delta, 0)
            return State(**{name: Coded(half, 3 * 64 + steps.clients), "own": half[:, :1]}), state

    problem = logistic()
    for channel in ("identity", {"kind": "natural"}):  # what is coded passes as it is
        setting = Setting(clients=M, rounds=2, batch=None, channel=channel)
        history = Simulation(Halves(lr=LR), problem, setting).run()
        assert history.rows[-1]["bits_up"] == 2 * (3 * 64 + np.mean(range(M)) + 64)
        assert history.rows[-1]["vectors_up"] == pytest.approx(2 * (1 + 1 / problem.dim))
        assert next(iter(history.ledger))[0][0].bits_up == tuple(4 * 64 + i for i in range(M))


def test_results_depend_on_the_channels_that_they_name():
    problem, setting = (
        {"kind": "quadratic", "dim": 3},
        {"clients": 4, "rounds": 2, "channel": {"down": {"kind": "qsgd", "levels": 1}}},
    )
    spec = CellSpec("ef21", {"lr": 0.1}, problem, setting, within={"parameters.compressor": ["natural"]})
    modules = {name.rpartition(".")[2] for name in cell_modules(spec) if ".channels." in name}
    assert modules == {"identity", "qsgd", "natural", "top_k"}
    spec = CellSpec("ef21", {"lr": 0.1}, problem, setting, tune={"compressor": ["natural"]})
    assert {name.rpartition(".")[2] for name in cell_modules(spec) if ".channels." in name} == modules
    spec = CellSpec("fedavg", {"lr": 0.1}, problem, setting, within={"channel": [{"kind": "top-k", "count": 1}]})
    assert {name.rpartition(".")[2] for name in cell_modules(spec) if ".channels." in name} == {"identity", "top_k"}


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        (
            "scaffnew",
            {"channel": {"down": "natural"}},
            "clients of algorithm scaffnew receive the server's vectors after",
        ),
        ("fedavg", {"channel": {"down": KEPT}}, "error_feedback is for the channel up"),
        (
            "sonata",
            {"channel": {"down": "natural"}, "problem": quadratic()},
            "algorithm sonata has no server whose messages could pass",
        ),
        ("svrp-gd", {"channel": {"down": "natural"}}, "use the mean gradient at w in later rounds"),
        (
            "ce-lgd",
            {"channel": {"down": "natural"}, "parameters": {"b": 0.5}},
            "use the model and the estimate of the round",
        ),
        (
            "fedavg",
            {"channel": {"kind": "rand-k", "count": 1, "error_feedback": True}},
            "rand-k is unbiased with omega = 6, and not contractive for d = 7",
        ),
    ],
)
def test_refusals(name, options, sentence):
    with pytest.raises(UserError, match=sentence):
        simulate(name, **options)
