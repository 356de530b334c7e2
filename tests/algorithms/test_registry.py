"""What every algorithm must satisfy by existing."""

import dataclasses

import numpy as np
import pytest

from fedatlas import UserError, algorithms
from fedatlas.algorithms.base import Algorithm
from fedatlas.problems.logistic import Logistic
from fedatlas.simulation.engine import Simulation
from fedatlas.simulation.sampling import Sampler
from fedatlas.simulation.setting import Setting
from tests.helpers import example, logistic
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


class World:
    """The problem and draws of a Simulation as a transcription sees them: plain formulas, one client at a time."""

    def __init__(self, problem, setting, seed):
        self.problem, self.setting, self.seed = problem, setting, seed
        self.m, self.K, self.T, self.x0 = (
            setting.clients,
            setting.local_steps,
            setting.total_rounds,
            problem.start(seed),
        )
        self.participants = setting.participants.bind(problem, setting.clients, seed)
        self.sampler = Sampler(problem, setting.clients, setting.batch, setting.sampling, seed)

    def S(self, t):
        return self.participants.active(t)

    def p(self, t):
        return self.participants.probabilities(t)

    def _rows(self, i):
        return self.problem.partition.client(i) if self.problem.partition else np.arange(self.problem.samples)

    def _gradient(self, rows, y):
        total = self.problem.l2 * y
        for j in rows:
            a, b = self.problem.A[j], self.problem.b[j]
            total = total - b * a / (1 + np.exp(b * (a @ y))) / len(rows)
        return total

    def g(self, t, k, i, y):
        draws = self.sampler.draw(t, np.arange(self.m), self.K)
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


@pytest.mark.parametrize("shared", [False, True], ids=["heterogeneous", "shared"])
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("name", NAMES)
def test_equals_its_transcription(name, condition, shared):
    problem = logistic(heterogeneous=not shared)
    options = {"clients": 5, "local_steps": 3, "rounds": 6, "batch": 2, "eval_rounds": 1, **CONDITIONS[condition]}
    setting = Setting(**options)
    simulation = Simulation(example(name), problem, setting, seed=3)
    parameters = dataclasses.asdict(simulation.algorithm)
    for t, expected in enumerate(TWINS[name](World(problem, setting, 3), **parameters)):
        simulation.step()
        np.testing.assert_allclose(simulation.output, expected, rtol=1e-10, atol=1e-12, err_msg=f"round {t}")
    assert t == 5


@pytest.mark.parametrize("name", NAMES)
def test_has_a_source_and_documented_parameters(name):
    cls = algorithms.get(name)
    assert cls.cite and cls.label and cls.__doc__ != Algorithm.__doc__
    assert any(year in cls.__doc__ for year in map(str, range(1950, 2030))) or name == "gd"
    assert all(f.metadata.get("doc") for f in cls.parameters().values())
    assert cls.__dataclass_params__.frozen


@pytest.mark.parametrize("name", NAMES)
def test_refuses_parameters_out_of_range(name):
    for f in algorithms.get(name).parameters().values():
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
    problem = logistic()
    setting = Setting(clients=5, local_steps=2, rounds=3, batch=2)
    simulation = Simulation(example(name), problem, setting, seed=0)
    simulation.step()
    before = {key: np.copy(value) for key, value in simulation.s.items()}
    state = simulation.s
    simulation.step()
    for key, value in before.items():
        np.testing.assert_array_equal(getattr(state, key), value)


@pytest.mark.parametrize("name", NAMES)
def test_float32_stays_float32(name):
    double = logistic()
    problem = Logistic(double.A.astype(np.float32), double.b > 0, 0.1, double.partition)
    simulation = Simulation(example(name), problem, Setting(clients=5, local_steps=2, rounds=2, batch=2), seed=0)
    simulation.step()
    assert simulation.output.dtype == np.float32


def test_unknown_names_get_a_guess():
    with pytest.raises(UserError, match="did you mean 'scaffold'"):
        algorithms.get("scafold")
    with pytest.raises(UserError, match=r"no option 'learning_rate'.*known: lr"):
        algorithms.create("fedavg", {"learning_rate": 1})
    with pytest.raises(UserError, match="needs a value for 'lr'"):
        algorithms.create("fedavg", {})
