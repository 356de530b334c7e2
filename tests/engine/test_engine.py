"""What the engine promises of every algorithm: bits, costs, divergence and when it evaluates."""

from dataclasses import dataclass

import numpy as np
import pytest

import fedatlas
from fedatlas.errors import UserError
from fedatlas.federation.algorithms import ALGORITHMS, Algorithm
from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.federation.algorithms.minibatch import GradientDescent, MinibatchSGD
from fedatlas.federation.arrays import to_numpy
from fedatlas.federation.engine.history import DIVERGENCE, History
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.problems.quadratic import Quadratic
from tests.helpers import each_algorithm, example, logistic, network, quadratic, softmax

NOBODY = {"kind": "bernoulli", "p": 1e-9}


def run(algorithm, problem, seed=1, block=None, threads=1, **options):
    options = {"clients": 5, "local_steps": 3, "rounds": 4, "batch": 2} | options
    return Simulation(algorithm, problem, Setting(**options), seed, block, threads).run()


COSTS = ("vectors_up", "vectors_down", "gradients", "samples")


def costs(history):
    return {name: history.rows[-1][name] for name in COSTS}


MAKE = {
    "logistic": logistic,
    "softmax": lambda: softmax(heterogeneous=False, start_scale=1.0),
    "quadratic": quadratic,
    "network": lambda: network({"kind": "mlp", "hidden": [5]}, dtype="float32"),
}


def test_blocks_change_no_bit_of_wide_problems():
    """Wider than NumPy's buffers of 8192 numbers, beyond which some reductions depend on the number of rows."""
    rng = np.random.default_rng(0)
    problem = Logistic(rng.standard_normal((20, 10_000)) / 100, rng.integers(2, size=20), 0.1)
    for batch in (1, 2):
        for name in ("fedavg", "fedspeed"):
            ends = [run(example(name), problem, block=block, batch=batch, rounds=2).x for block in (1, 2, 5)]
            assert all((x == ends[0]).all() for x in ends), (name, batch)


def test_rounds_with_nobody_are_counted():
    history = run(example("fedavg"), logistic(), participation=NOBODY, rounds=3)
    assert (history.rows[-1]["round"], history.rows[-1]["steps"]) == (3, 9)


@pytest.mark.parametrize(
    "options, rounds",
    [
        ({"rounds": 7, "eval_rounds": 3}, [0, 3, 6, 7]),
        ({"rounds": 6, "eval_rounds": 3}, [0, 3, 6]),
        ({"steps": 21, "rounds": None, "eval_steps": 9}, [0, 3, 6, 7]),
        ({"rounds": 2, "eval_steps": 1}, [0, 1, 2]),
        ({"rounds": 3}, [0, 1, 2, 3]),
        ({"rounds": 250}, [*range(0, 250, 2), 250]),
    ],
)
def test_evaluates_at_the_start_on_schedule_and_at_the_end(options, rounds):
    history = run(example("fedavg"), quadratic(), **options)
    assert [row["round"] for row in history.rows] == rounds
    assert [row["steps"] for row in history.rows] == [3 * t for t in rounds]
    assert all(late["seconds"] >= early["seconds"] for early, late in zip(history.rows, history.rows[1:], strict=False))


@pytest.mark.parametrize(
    "name, parameters, up, down, gradients, samples",
    [
        ("fedavg", {}, 4, 4, 12, 24),
        ("fedprox", {}, 4, 4, 12, 24),
        ("fedspeed", {}, 4, 4, 24, 48),
        ("fedawe", {}, 4, 4, 12, 24),
        ("scaffold", {"option": 2}, 8, 8, 12, 24),
        ("scaffold", {"option": 1}, 8, 8, 12 + 4, 24 + 4 * 12),
        ("gd", {}, 4, 4, 4, 4 * 12),
        ("mb-sgd", {}, 4, 4, 12, 24),
        ("mb-ac-sgd", {}, 4, 4, 12, 24),
        ("fedac-1", {}, 8, 8, 12, 24),
    ],
)
def test_costs_by_hand(name, parameters, up, down, gradients, samples):
    problem = logistic(samples=60)
    problem.partition = Shares(60, 5)
    for participation in ({"kind": "full"}, {"kind": "uniform", "count": 3}):
        history = run(example(name, **parameters), problem, participation=participation, block=2)
        assert list(costs(history).values()) == [up, down, gradients, samples]
        assert {history.rows[0][name] for name in (*COSTS, "seconds")} == {0.0}


@pytest.mark.parametrize("participation", [{"kind": "full"}, {"kind": "uniform", "count": 3}])
@pytest.mark.parametrize("make", [logistic, lambda: logistic(heterogeneous=False)])
def test_gradient_descent_with_full_gradients_of_minibatches_is_minibatch_sgd(make, participation):
    options = {"full_gradients": "minibatch", "participation": participation}
    gd, sgd = (run(example(name), make(), **options) for name in ("gd", "mb-sgd"))
    np.testing.assert_array_equal(gd.x, sgd.x)
    assert costs(gd) == costs(sgd)


OF_ALL_DATA = {
    "dane": "solves subproblems exactly, but full_gradients is minibatch",
    "fedred": "solves subproblems exactly, but full_gradients is minibatch",
    "sonata": "solves subproblems exactly, but full_gradients is minibatch",
}


def test_full_gradients_are_exact_where_steps_take_all_data():
    ends = [
        run(example("scaffold", option=1), logistic(), batch=None, full_gradients=f).x for f in ("exact", "minibatch")
    ]
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize("name", each_algorithm([name for name in ALGORITHMS.names() if name not in OF_ALL_DATA]))
def test_no_algorithm_sees_all_data_where_full_gradients_are_of_minibatches(name, monkeypatch):
    problem, computed = logistic(), []
    monkeypatch.setattr(problem, "full_batch", lambda clients: computed.append(clients))
    assert np.isfinite(run(example(name), problem, full_gradients="minibatch").x).all() and not computed


@pytest.mark.parametrize("name", OF_ALL_DATA)
def test_algorithms_that_need_all_data_are_refused_where_full_gradients_are_of_minibatches(name):
    with pytest.raises(UserError, match=f"algorithm {name} {OF_ALL_DATA[name]}"):
        run(example(name), quadratic(), full_gradients="minibatch")


def test_samples_of_unequal_clients_are_averaged_over_them():
    problem = logistic()
    history = run(example("gd"), problem, rounds=3)
    assert history.rows[-1]["samples"] == pytest.approx(3 * 60 / 5)


class Shares:
    """Equal shares in order."""

    def __init__(self, samples, clients):
        self.clients, self.size = clients, samples // clients
        self.sizes = np.full(clients, self.size)

    def client(self, i):
        return np.arange(i * self.size, (i + 1) * self.size)


class UnpooledSGD(MinibatchSGD):
    pooled = False
    recurrence = Algorithm.recurrence  # no compiled kernel: the plain path is what is compared


class UnpooledGD(GradientDescent):
    pooled = False


@pytest.mark.parametrize("pooled, unpooled", [(MinibatchSGD, UnpooledSGD), (GradientDescent, UnpooledGD)])
@pytest.mark.parametrize("batch", [1, 6, None])
@pytest.mark.parametrize("make", [lambda: logistic(heterogeneous=False), lambda: softmax(heterogeneous=False)])
def test_pooling_clients_changes_neither_costs_nor_trajectory(pooled, unpooled, batch, make):
    for participation in ({"kind": "full"}, {"kind": "uniform", "count": 3}):
        histories = [run(cls(lr=0.3), make(), batch=batch, participation=participation) for cls in (pooled, unpooled)]
        np.testing.assert_allclose(histories[0].x, histories[1].x, rtol=1e-12, atol=1e-12)
        assert costs(histories[0]) == costs(histories[1])


def test_clients_with_objectives_of_their_own_are_never_pooled():
    problem = Quadratic([[1.0], [3.0]], [[1.0], [9.0]], start_scale=0.0)  # minima at 1 and 3, of the mean at 2.5
    assert run(example("gd", lr=0.2), problem, clients=2, rounds=200).x == pytest.approx([2.5])


@dataclass(frozen=True, kw_only=True)
class Failing(FedAvg):
    name = "failing"

    def client(self, s, i, steps):
        raise UserError("the client cannot")


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_client_ends_the_run(threads):
    with pytest.raises(UserError, match="the client cannot"):
        run(Failing(lr=0.1), quadratic(), block=1, threads=threads)


@pytest.mark.parametrize("name", ["fedavg", "scaffold", "gd", "fedac-1"])
@pytest.mark.parametrize("kind", MAKE)
def test_divergence_is_recorded_not_raised(name, kind):
    history = run(example(name, lr=1e30, mu=0.1), MAKE[kind](), rounds=500, eval_rounds=500)
    assert history.status == "diverged"
    assert 1 <= history.diverged_round < 500
    assert [row["round"] for row in history.rows] == [0, history.diverged_round]
    assert not (np.isfinite(to_numpy(history.x)).all() and np.isfinite(history.rows[-1]["loss"]))


def test_divergence_is_found_in_its_round():
    problem = Quadratic([[1.0]], [[0.0]], start_scale=1.0)
    history = run(example("gd", lr=1e100), problem, clients=1, rounds=9, eval_rounds=9)
    assert history.diverged_round == 4  # |x| grows 1e100 times a round and numbers end near 1e308
    history = run(example("gd", lr=1e100), problem, clients=1, rounds=9, eval_rounds=2)
    assert history.diverged_round == 2 and np.isfinite(history.x).all()  # the loss, |x|^2 / 2, ends earlier


def test_a_loss_that_is_still_huge_at_the_end_has_diverged():
    problem = Quadratic([[1.0]], [[0.0]], start_scale=1.0)
    history = run(example("gd", lr=11.0), problem, clients=1, rounds=9, eval_rounds=1)  # |x| grows tenfold a round
    first = next(row["round"] for row in history.rows if row["loss"] > DIVERGENCE)
    assert (history.status, history.diverged_round, history.rows[-1]["round"]) == ("diverged", first, 9)
    assert run(example("gd", lr=11.0), problem, clients=1, rounds=2).status == "ok"


@pytest.mark.parametrize("end, status", [(1e5, ("ok", None)), (1e300, ("diverged", 3)), (2e8, ("diverged", 3))])
def test_a_loss_that_falls_again_has_not_diverged(end, status):
    history = History([{"round": t, "loss": loss} for t, loss in enumerate([-100.0, 1e200, 1e5, end])])
    history.finish()
    assert (history.status, history.diverged_round) == status


@pytest.mark.parametrize(
    "schedule, factor",
    [
        ("constant", lambda t: 1.0),
        ({"kind": "exponential", "decay": 0.5}, lambda t: 0.5**t),
        ({"kind": "inverse-sqrt", "period": 2}, lambda t: (t / 2 + 1) ** -0.5),
    ],
)
def test_schedule_scales_the_local_step_size_by_round(schedule, factor):
    problem = Quadratic([[2.0, 1.0]], [[0.0, 3.0]], start_scale=1.0)
    history = run(example("fedavg", lr=0.1, server_lr=0.7), problem, clients=1, schedule=schedule)
    x = problem.start(1)
    for t in range(4):
        y = x
        for _ in range(3):
            y = y - 0.1 * factor(t) * (problem.A[0] * y - problem.b[0])
        x = x + 0.7 * (y - x)
    np.testing.assert_allclose(history.x, x, rtol=1e-13)


def test_the_traceback_of_a_mistake_shows_its_line_and_two_frames_of_the_atlas():
    @dataclass(frozen=True, kw_only=True)
    class Mistaken(FedAvg):
        name = "mistaken"

        def client(self, s, i, steps):
            raise KeyError("mine")

    with pytest.raises(KeyError) as raised:
        fedatlas.train(Mistaken, logistic(), lr=0.1, rounds=1)
    assert [frame.name for frame in raised.traceback] == [
        "test_the_traceback_of_a_mistake_shows_its_line_and_two_frames_of_the_atlas",
        "train",
        "compute",
        "client",
    ]
