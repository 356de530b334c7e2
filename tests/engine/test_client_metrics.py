"""Metrics over clients: each client's model on its own rows, of all clients, and only where a setting asks for them."""

from dataclasses import dataclass

import numpy as np
import pytest

import fedatlas
from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.federation.arrays import State
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.metrics import METRICS, Metric, metric
from fedatlas.registry.options import option
from fedatlas.testing import instances
from tests.helpers import logistic

STATISTICS = ("mean", "min", "max", "sd", "q25")
REDUCTIONS = {"mean": np.mean, "min": np.min, "max": np.max, "sd": np.std, "q25": lambda v: np.quantile(v, 0.25)}


@dataclass(frozen=True, kw_only=True)
class Personal(FedAvg):
    """FedAvg whose clients use their own last model, x0 at first."""

    shift: float = option(0.0, doc="added to every model")

    def init(self, x0):
        return State(x=x0), State(y=x0)

    def client(self, s, i, steps):
        message, _ = super().client(s, i, steps)
        return message, State(y=s.x + message.delta)

    def client_model(self, s, i):
        return i.y + self.shift

    def recurrence(self, K):
        return None


def simulate(algorithm, problem, block=None, **options):
    setting = Setting(**{"clients": 5, "rounds": 3, "eval_rounds": 1, "batch": 2, "local_steps": 2} | options)
    return Simulation(algorithm, problem, setting, seed=1, block=block)


def network():
    return instances.network({"kind": "mlp", "hidden": [5]})


def scores_alone(problem, x, i, part="train"):
    """Loss and accuracy of a model on the rows of client i, by a problem that has these rows alone."""
    rows = problem.partition.client(i)
    if isinstance(problem, fedatlas.federation.problems.logistic.Logistic):
        alone = type(problem)(problem.A[rows], problem.b[rows] > 0, problem.l2)
    elif hasattr(problem, "classes"):
        alone = type(problem)(problem.A[rows], problem.y[rows], problem.classes, problem.l2)
    else:
        loss, accuracy = problem._score(x, problem.train, problem.train.index(rows))
        return loss + problem.l2 / 2 * float(x @ x), accuracy
    return alone.evaluate(x)["loss"], alone.evaluate(x)["accuracy"]


@pytest.mark.parametrize("make", [logistic, instances.softmax, network])
@pytest.mark.parametrize("personal", [False, True])
def test_each_client_is_measured_on_its_own_rows(make, personal):
    problem = make()
    names = [f"{base}_clients_{statistic}" for base in ("loss", "accuracy") for statistic in STATISTICS]
    algorithm = Personal(lr=0.5) if personal else FedAvg(lr=0.5)
    rows = {}
    for block in (1, 5):
        simulation = simulate(
            algorithm, problem, block, metrics=names, participation={"kind": "uniform", "count": 2}, rounds=2
        )
        rows[block] = simulation.run().rows
        ids = np.arange(5)
        assert not simulation.clients.table.touched.all() or not personal
        models = simulation.clients.table.read(ids).y if personal else [simulation.output] * 5
        values = np.array([scores_alone(problem, models[i], i) for i in ids])
        for column, base in enumerate(("loss", "accuracy")):
            for statistic in STATISTICS:
                expected = REDUCTIONS[statistic](values[:, column])
                assert rows[block][-1][f"{base}_clients_{statistic}"] == pytest.approx(expected, rel=1e-6)
    assert [[row[name] for name in names] for row in rows[1]] == [[row[name] for name in names] for row in rows[5]]


def test_held_out_rows_are_those_of_each_client():
    rng = np.random.default_rng(0)
    A, y = rng.standard_normal((40, 3)), rng.integers(2, size=40)
    split, tests = [range(0, 15), range(15, 30)], [[0, 1, 2], [3, 4]]
    options = {"partition": [np.array(part) for part in split], "test": (A[30:], y[30:]), "test_partition": tests}
    names = ["test_accuracy_clients_min", "test_accuracy_clients_max"]
    for cls in (fedatlas.Logistic, fedatlas.Softmax):
        frame = fedatlas.train("fedavg", cls(A[:30], y[:30], l2=0.1, **options), rounds=2, lr=1.0, metrics=names)
        x = frame.attrs["x"]
        accuracies = [cls(A[30:][rows], y[30:][rows], l2=0.1).evaluate(x)["accuracy"] for rows in tests]
        assert frame[names].iloc[-1].tolist() == [min(accuracies), max(accuracies)]
    with pytest.raises(UserError, match="each of the 2 clients"):
        fedatlas.Logistic(A[:30], y[:30], **{**options, "test_partition": [[0]]})
    with pytest.raises(UserError, match="give test and partition"):
        fedatlas.Logistic(A[:30], y[:30], test_partition=tests)
    problem = fedatlas.Logistic(A[:30], y[:30], partition=options["partition"], test=options["test"])
    with pytest.raises(UserError, match=r"belong to no clients.*test_share"):
        fedatlas.train("fedavg", problem, rounds=2, lr=1.0, metrics=names)


@pytest.mark.parametrize(
    ("name", "words", "larger"),
    [
        ("test_accuracy_clients_mean", "mean test accuracy over clients", True),
        ("test_accuracy_clients_sd", "standard deviation of the test accuracy over clients", False),
        ("accuracy_clients_q10", "10 % quantile of the training accuracy over clients", True),
        ("loss_clients_max", "largest training loss of a client", False),
    ],
)
def test_words_and_direction(name, words, larger):
    record = metric(name)
    assert (labels.words(name), record.larger_is_better) == (words, larger)
    assert record.percent == METRICS.get(name.partition("_clients")[0]).percent
    assert isinstance(record, Metric)


@pytest.mark.parametrize("name", ["suboptimality_clients_mean", "test_accuracy_clients_mean", "loss_clients_median"])
def test_a_metric_that_no_client_has_is_refused_before_the_first_round(name):
    simulation = simulate(FedAvg(lr=0.1), logistic(), metrics=[name])
    with pytest.raises(UserError, match=r"metrics: the problem (has no|does not report)"):
        simulation.run()
    assert simulation.round == 0


def test_nan_of_clients_without_rows_does_not_count():
    over_clients = fedatlas.federation.metrics.client_metric("test_loss_clients_min")
    assert over_clients.value(np.array([np.nan, 3.0, 1.0])) == 1.0
    assert np.isnan(over_clients.value(np.array([np.nan])))
