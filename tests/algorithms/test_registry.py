"""What every algorithm must satisfy by existing."""

import dataclasses

import numpy as np
import pytest

from fedatlas import UserError, algorithms
from fedatlas.algorithms.base import Algorithm
from fedatlas.problems.logistic import Logistic
from fedatlas.simulation.engine import Simulation
from fedatlas.simulation.sampling import SAMPLING
from fedatlas.simulation.setting import Setting
from fedatlas.streams import drawn_client, stream
from tests.helpers import example, logistic, quadratic
from tests.transcriptions import load

NAMES = algorithms.names()
TWINS = load()
CONDITIONS = {
    "full": {"participation": {"kind": "full"}},
    "sampled": {"participation": {"kind": "uniform", "count": 3}},
    "sometimes nobody": {"participation": {"kind": "bernoulli", "p": 0.3}},
    "full gradients": {"batch": None},
    "one step": {"local_steps": 1},
}


# Choices of an algorithm besides its defaults that are compared with the transcription as well.
CHOICES = [
    ("fedac-1", {"lr": 0.9, "mu": 0.5}),  # gamma = eta
    ("fedac-2", {"lr": 0.9, "mu": 0.5}),
    ("fedac-convex", {"variant": 2}),
    ("dane", {"averaging": "random"}),
    ("dane+-gd", {"averaging": "random", "mu": 0.1, "max_steps": 2}),
    ("dane+-sgd", {"averaging": "random"}),
    ("fedred", {"averaging": "random", "average": "weighted", "mu": 0.05}),
    ("fedred-gd", {"eta": 3.0, "p": 0.3, "average": "weighted"}),
    ("fedred-sgd", {"eta": 3.0, "p": 0.3, "lam": 0.5, "averaging": "random", "average": "weighted", "mu": 0.1}),
    ("fedpd", {"p": 0.5}),
    ("svrp-gd", {"p": 0.5, "eta": 2.0}),
    ("ce-lgd", {"b": 0.3}),
    ("sonata", {"graph": "ring", "step": 0.7}),
    ("scaffold", {"option": 1, "server_lr": 0.7}),
    ("fedprox", {"server_lr": 0.7}),
    ("fedred", {"averaging": "mean", "average": "weighted", "mu": 0.1}),
    ("fedspeed", {"normalise": False}),
    ("fedspeed", {"mean": "all", "rho": 0.2}),
    ("fedsps", {"l_star": -0.5, "c": 4.0}),
    ("fedsps-normalized", {"smoothing": "bound", "gamma_b": 0.3}),
    ("fedsps-normalized", {"smoothing": "step", "gamma_b": 0.3}),
    ("fedsps-global", {"l_star": -0.5, "c": 4.0}),
    ("fedadam", {"server_lr": 0.3}),
    ("fedams", {"server_lr": 0.3}),
]
STIFF = {"lr": 0.5, "lam": 1.0}  # subproblems that need few steps
VARIANTS = [pytest.param(name, STIFF if name.startswith("dane+") else {}, id=name) for name in NAMES]
VARIANTS += [pytest.param(name, more, id=f"{name}-{'-'.join(map(str, more.values()))}") for name, more in CHOICES]


class World:
    """The problem and draws of a Simulation as a transcription sees them: plain formulas, one client at a time."""

    def __init__(self, problem, setting, seed, name):
        self.problem, self.setting, self.seed, self.name = problem, setting, seed, name
        self.m, self.T, self.x0 = setting.clients, setting.total_rounds, problem.start(seed)
        self.participants = setting.participants.bind(problem, setting.clients, seed)
        self.sampler = SAMPLING.get(setting.sampler)(problem, setting.clients, setting.batch, seed)
        self.K = setting.local_steps
        if setting.local_epochs is not None:  # clients of one size
            self.per_pass = -(-len(self._rows(0)) // setting.batch)
            self.K = setting.local_epochs * self.per_pass

    def S(self, t):
        return self.participants.active(t)

    def p(self, t):
        return self.participants.probabilities(t)

    def decay(self, t):
        return self.setting.lr_schedule.factor(t)

    def drawn(self, t):
        """The client that is drawn at random in round t."""
        return self.S(t)[drawn_client(self.seed, t, len(self.S(t)))]

    def flips(self, t, p):
        """Tosses of the coin of round t up to and with the first success."""
        return int(stream(self.seed, "length", t).geometric(p))

    def server_draws(self, t):
        """The generator of what the server draws in round t."""
        return stream(self.seed, "algorithm", t, 0)

    def _rows(self, i):
        return self.problem.partition.client(i) if self.problem.partition else np.arange(self.problem.samples)

    def _gradient(self, rows, y):
        total = self.problem.l2 * y
        for j in rows:
            a, b = self.problem.A[j], self.problem.b[j]
            total = total - b * a / (1 + np.exp(b * (a @ y))) / len(rows)
        return total

    def g(self, t, k, i, y, K=None):
        epochs, batch = self.setting.local_epochs, self.setting.batch
        everyone = np.arange(self.m)
        if epochs is not None:
            draws = self.sampler.passes(t, everyone, epochs)
            one_pass, step = draws[i][k // self.per_pass], k % self.per_pass
            return self._gradient(one_pass[step * batch : (step + 1) * batch], y)
        draws = self.sampler.draw(t, everyone, K or self.K)
        return self._gradient(self._rows(i) if draws is None else draws[i, k], y)

    def G(self, i, y):
        return self._gradient(self._rows(i), y)

    def _batch(self, t, k, i):
        draws = self.sampler.draw(t, np.arange(self.m), self.K)
        return self._rows(i) if draws is None else draws[i, k]

    def f(self, t, k, i, y):
        total = self.problem.l2 / 2 * (y @ y)
        rows = self._batch(t, k, i)
        for j in rows:
            total = total + np.log(1 + np.exp(-self.problem.b[j] * (self.problem.A[j] @ y))) / len(rows)
        return total

    def share(self, i):
        return len(self._batch(0, 0, i)) / len(self._rows(i))


class Quadratics(World):
    """The same for quadratics, which have exact proximal steps."""

    def g(self, t, k, i, y, K=None):
        draws = self.sampler.draw(t, np.arange(self.m), K or self.K)
        return self.G(i, y) if draws is None else self.G(i, y) + sum(self.problem.noise[draws[i, k]]) / len(draws[i, k])

    def G(self, i, y):
        return self.problem.A[i] @ y - self.problem.b[i]

    def prox(self, i, v, weight):
        return np.linalg.solve(self.problem.A[i] + weight * np.eye(len(v)), self.problem.b[i] + weight * v)


@pytest.mark.parametrize("shared", [False, True], ids=["heterogeneous", "shared"])
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("name, variant", VARIANTS)
def test_equals_its_transcription(name, variant, condition, shared):
    quadratics, problem = algorithms.get(name).exact_prox, logistic(heterogeneous=not shared)
    if quadratics:
        problem = quadratic(heterogeneity=0.0, similarity=0.0) if shared else quadratic()
    options = {"clients": 5, "local_steps": 3, "rounds": 6, "batch": 2, "eval_rounds": 1, **CONDITIONS[condition]}
    setting = Setting(**options)
    if algorithms.get(name).full and not setting.full_participation:
        with pytest.raises(UserError, match="full participation only"):
            Simulation(example(name), problem, setting)
        return
    simulation = Simulation(example(name, **variant), problem, setting, seed=3)
    parameters = dataclasses.asdict(simulation.algorithm)
    world = (Quadratics if quadratics else World)(problem, setting, 3, name)
    for t, expected in enumerate(TWINS[name](world, **parameters)):
        simulation.run_round()
        np.testing.assert_allclose(simulation.output, expected, rtol=1e-10, atol=1e-12, err_msg=f"round {t}")
    assert t == 5


@pytest.mark.parametrize("name", NAMES)
def test_has_a_source_and_documented_parameters(name):
    cls = algorithms.get(name)
    assert cls.cite and cls.label and cls.__doc__ != Algorithm.__doc__
    assert any(year in cls.__doc__ for year in map(str, range(1950, 2030))) or name == "gd"
    assert all(f.doc for f in cls.options().values())
    assert cls.__dataclass_params__.frozen


@pytest.mark.parametrize("name", NAMES)
def test_refuses_parameters_out_of_range(name):
    for f in algorithms.get(name).options().values():
        bounded = f.metadata["above"] is not None or f.metadata["low"] is not None
        if bounded:
            with pytest.raises(UserError, match=f.name):
                example(name, **{f.name: -1.0})
        with pytest.raises(UserError, match=f.name):
            example(name, **{f.name: "much"})
        if f.metadata["choices"] is None and not isinstance(f.default, bool):
            with pytest.raises(UserError, match=f.name):
                example(name, **{f.name: float("nan")})


@pytest.mark.parametrize("name", NAMES)
def test_hooks_do_not_change_what_they_are_given(name):
    problem = quadratic() if algorithms.get(name).exact_prox else logistic()
    setting = Setting(clients=5, local_steps=2, rounds=3, batch=2)
    simulation = Simulation(example(name), problem, setting, seed=0)
    simulation.run_round()
    before = {key: np.copy(value) for key, value in simulation.s.items()}
    state = simulation.s
    simulation.run_round()
    for key, value in before.items():
        np.testing.assert_array_equal(getattr(state, key), value)


@pytest.mark.parametrize("name", NAMES)
def test_float32_stays_float32(name):
    if algorithms.get(name).exact_prox:
        pytest.skip("no problem in float32 has an exact proximal step")
    double = logistic()
    problem = Logistic(double.A.astype(np.float32), double.b > 0, 0.1, double.partition)
    simulation = Simulation(example(name), problem, Setting(clients=5, local_steps=2, rounds=2, batch=2), seed=0)
    simulation.run_round()
    assert simulation.output.dtype == np.float32


def test_unknown_names_get_a_guess():
    with pytest.raises(UserError, match="did you mean 'scaffold'"):
        algorithms.get("scafold")
    with pytest.raises(UserError, match=r"no option 'learning_rate'.*known: lr"):
        algorithms.create("fedavg", {"learning_rate": 1})
    with pytest.raises(UserError, match="needs a value for 'lr'"):
        algorithms.create("fedavg", {})
