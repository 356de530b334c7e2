"""DP-FedAvg: its epsilon against published numbers, and the participation for which there is one."""

import importlib.util
import math

import numpy as np
import pytest

from fedatlas.errors import Undefined, UserError
from fedatlas.federation.algorithms import dp_fedavg
from fedatlas.federation.algorithms.dp_fedavg import LIBRARY, DPFedAvg, epsilon
from fedatlas.federation.algorithms.fedavg import FedAvg
from fedatlas.federation.arrays import State, zeros_like
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from tests.helpers import logistic

PRIVATE = {"lr": 0.1, "bound": 0.5, "noise": 1.0, "delta": 1e-5}
accountant = pytest.mark.skipif(importlib.util.find_spec(LIBRARY) is None, reason="dp-accounting is not installed")


def simulate(algorithm, **options):
    setting = Setting(**{"clients": 5, "rounds": 4, "batch": 2, "eval_rounds": 2} | options)
    return Simulation(algorithm, logistic(), setting)


@accountant
@pytest.mark.slow
@pytest.mark.parametrize(
    ("q", "noise", "rounds", "published", "tighter"),
    [
        # Abadi et al. 2016, Section 5.1: the moments accountant gives 1.26 for delta = 1e-5.
        (0.01, 4.0, 10_000, 1.26, 1.035),
        # The tutorial of TensorFlow Privacy on MNIST, 60 epochs of minibatches of 256: 3.01 for delta = 1e-5.
        (256 / 60_000, 1.1, 14_062, 3.01, 2.597),
    ],
)
def test_epsilon_equals_published_numbers(q, noise, rounds, published, tighter):
    """The published numbers convert Renyi divergences by Mironov (2017), the library by a tighter bound since."""
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    event = dp_accounting.PoissonSampledDpEvent(q, dp_accounting.GaussianDpEvent(noise))
    curve = RdpAccountant().compose(event, rounds)
    divergences = zip(curve._orders, curve._rdp, strict=True)
    converted = min(rdp + math.log(1e5) / (order - 1) for order, rdp in divergences if order > 1)
    assert converted == pytest.approx(published, abs=0.005)
    assert epsilon(rounds, q, noise, 1e-5) == pytest.approx(tighter, abs=0.001)


@accountant
def test_epsilon_is_a_column_that_grows_with_the_rounds():
    rows = simulate(DPFedAvg(**PRIVATE), participation={"kind": "stationary", "p": 0.4}).run().rows
    values = [row["epsilon"] for row in rows]
    assert values[0] == 0 < values[1] < values[2] == epsilon(4, 0.4, 1.0, 1e-5)
    assert simulate(DPFedAvg(**PRIVATE | {"noise": 0.0})).run().rows[-1]["epsilon"] == math.inf


@pytest.mark.parametrize(
    "participation",
    [
        {"kind": "uniform", "count": 3},
        {"kind": "stationary", "p": [0.1, 0.2, 0.3, 0.4, 0.5]},
        {"kind": "sine", "p": 0.5, "gamma": 0.3},
        {"kind": "markov", "p": 0.5, "persistence": 0.5},
    ],
)
def test_epsilon_is_refused_where_no_theorem_gives_it(participation):
    with pytest.raises(Undefined, match="no theorem gives epsilon for this participation"):
        simulate(DPFedAvg(**PRIVATE), participation=participation)


def test_epsilon_is_refused_where_a_channel_changes_what_clients_send():
    with pytest.raises(Undefined, match="leave the channel up out"):
        simulate(DPFedAvg(**PRIVATE), channel={"kind": "rand-k", "share": 0.5})


def test_epsilon_is_refused_where_values_of_clients_are_recorded():
    with pytest.raises(Undefined, match="local_loss of the clients would be recorded without noise"):
        simulate(DPFedAvg(**PRIVATE), record=["local_loss"])
    assert simulate(DPFedAvg(**PRIVATE | {"delta": None}), record=["local_loss"]).run().rows


class Unclipped(DPFedAvg):
    """DP-Unclipped (nobody 2026) is DP-FedAvg without the clip."""

    name = "dp-unclipped"

    def client(self, s, i, steps):
        change = zeros_like(s.x)
        for g in steps:
            change = change - self.lr * g(s.x + change)
        return State(change=change), State()


class Unvalidated(Unclipped):
    """DP-Unvalidated (nobody 2026) is DP-Unclipped, defined everywhere."""

    name = "dp-unvalidated"

    def validate(self, setting, problem):
        pass


class Unnoticed(Unvalidated):
    """DP-Unnoticed (nobody 2026) is DP-Unvalidated, which asks for epsilon itself."""

    name = "dp-unnoticed"
    __module__, __qualname__ = DPFedAvg.__module__, DPFedAvg.__qualname__

    def __post_init__(self):
        pass

    def epsilon(self, s, n):
        return epsilon(n.round, 1.0, self.noise, 1e-5)


class Invented(FedAvg):
    """Invented (nobody 2026) is FedAvg that reports a number under the name."""

    name = "invented"
    reports = ("epsilon",)

    def epsilon(self, s, n):
        return 0.1


def test_what_derives_from_it_reports_no_epsilon():
    with pytest.raises(Undefined, match="algorithm dp-unclipped: epsilon is proven for the code of dp-fedavg"):
        simulate(Unclipped(**PRIVATE))
    assert "epsilon" not in simulate(Unclipped(**PRIVATE | {"delta": None})).run().rows[-1]


@accountant
@pytest.mark.parametrize("cls", [Unvalidated, Unnoticed, Invented])
def test_the_number_of_another_class_reaches_no_row(cls):
    values = {"lr": 0.1} if cls is Invented else PRIVATE
    with pytest.raises(UserError, match=f"algorithm {cls.name}: it reports 'epsilon', which is proven for"):
        simulate(cls(**values)).run()


def test_without_the_library_the_sentence_names_the_extra(monkeypatch):
    monkeypatch.setattr(dp_fedavg, "LIBRARY", "no_such_library")
    with pytest.raises(UserError, match=r"pip install 'fedatlas\[privacy\]'"):
        simulate(DPFedAvg(**PRIVATE))
    history = simulate(DPFedAvg(**PRIVATE | {"delta": None})).run()
    assert "epsilon" not in history.rows[-1]


def test_the_denominator_is_fixed_and_empty_rounds_have_noise():
    rare = {"participation": {"kind": "stationary", "p": 0.1}, "rounds": 1}
    simulation = simulate(DPFedAvg(lr=0.1, bound=0.5, noise=1.0), **rare)
    assert len(simulation.participants.active(0)) == 0, "the seed's first round has no client"
    x0 = simulation.x0
    steps = (simulation.run().x - x0) * (0.1 * 5) / 0.5
    rng = Simulation(FedAvg(lr=0.1), logistic(), simulation.setting)._round(np.zeros(0, int), 0).rng
    assert steps == pytest.approx(rng.standard_normal(len(x0)))
