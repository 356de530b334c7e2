"""What every algorithm must satisfy because it exists."""

import subprocess
import sys
from pathlib import Path

import pytest

from fedatlas import UserError
from fedatlas.federation import algorithms
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.problems.quadratic import Quadratic
from fedatlas.testing import CONFORMANCE_TESTS, FAILED, NOT_APPLICABLE, PASSED, Implementation, transcriptions
from fedatlas.testing.outcomes import run_test
from fedatlas.workflow.inputs.memory import client_vectors
from tests.helpers import example, logistic, quadratic

NAMES = algorithms.names()
ALWAYS = ("docstring", "options", "refusals", "citation", "runs", "seeds", "costs", "agreement")  # apply to all
IMPLEMENTATIONS = {name: Implementation(algorithms.get(name)) for name in NAMES}

# Values besides the defaults with which algorithms are compared with their transcriptions, too.
CHOICES = [
    ("fedac-1", {"lr": 0.9, "mu": 0.5}),  # gamma = eta
    ("fedac-2", {"lr": 0.9, "mu": 0.5}),
    ("fedac-2", {"beta": "code"}),
    ("fedac-convex", {"variant": 2}),
    ("dane", {"averaging": "random"}),
    ("dane+-gd", {"averaging": "random", "mu": 0.1, "max_steps": 2}),
    ("dane+-gd-least", {"averaging": "random", "lr": 1.5, "solver_steps": 4}),  # oscillates: an early point is best
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
    ("fedspeed", {"mean": "all", "clip": 0.2, "decoupled": 0.05}),  # clips most steps
    ("fedcm", {"decoupled": 0.05}),
    ("fedsps", {"l_star": -0.5, "c": 4.0}),
    ("fedsps-normalized", {"smoothing": "bound", "gamma_b": 0.3}),
    ("fedsps-normalized", {"smoothing": "step", "gamma_b": 0.3}),
    ("fedsps-global", {"l_star": -0.5, "c": 4.0}),
    ("fedsps-global", {"aggregation": "norms", "c": 4.0}),
    ("fedsps-global", {"aggregation": "gradients", "c": 4.0}),
    ("feddecsps", {"memory": "restarted"}),
    ("fedadam", {"server_lr": 0.3}),
    ("fedadam", {"first_v": 0.0}),
    ("fedams", {"server_lr": 0.3}),
    ("f3ast", {"beta": 0.3, "r0": "p"}),
]


@pytest.mark.parametrize("check", CONFORMANCE_TESTS)
@pytest.mark.parametrize("name", NAMES)
def test_passes(name, check):
    """What every algorithm must pass: `fedatlas check` runs the same functions."""
    found = run_test(CONFORMANCE_TESTS[check], IMPLEMENTATIONS[name])
    assert found.status != FAILED, found.sentence
    assert found.status == PASSED or check not in ALWAYS, found.sentence
    if found.status == NOT_APPLICABLE:
        pytest.skip(found.sentence)


@pytest.mark.parametrize("name, values", CHOICES, ids=str)
def test_equals_its_transcription_with_other_choices(name, values):
    cls = algorithms.get(name)
    required = {one: getattr(example(name), one) for one, option in cls.options().items() if option.required}
    transcriptions.agreement(Implementation(cls, required | values))


def test_declarations_load_no_heavy_library():
    code = "import sys; from fedatlas.federation import algorithms; list(algorithms.names()); print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "fedatlas.federation.algorithms.dane" in found
    assert not {"torch", "pandas", "matplotlib", "numba", "scipy"} & set(found)


@pytest.mark.parametrize(
    "name, options, kept",
    [
        ("fedavg", {}, 0),
        ("fedau", {}, 0),  # three numbers
        *((name, {}, 0) for name in ("fedavg-all", "fedavg-known-p", "f3ast")),
        *((name, {}, 1) for name in ("fedawe", "mifa", "fedvarp", "scaffold")),
        ("fedadmm", {}, 2),
        ("sonata", {}, 3),
        ("fedspeed", {}, 1),
        ("fedspeed", {"prox": False, "correction": False}, 0),
        ("fedred", {"average": "weighted"}, 3),
    ],
)
def test_vectors_that_a_client_keeps(name, options, kept):
    assert client_vectors(example(name, **options)) == kept


@pytest.mark.parametrize("name", ["dane", "fedred", "dane+-gd"])
def test_exact_proximal_steps_are_asked_of_a_problem_or_its_class(name):
    setting, algorithm = Setting(clients=5, rounds=1), example(name)
    for problem in (quadratic(), Quadratic):
        algorithm.validate(setting, problem)
    for problem in (logistic(), Logistic):
        if algorithm.exact_prox:
            with pytest.raises(UserError, match=rf"^algorithm {name} solves subproblems exactly, but this problem has"):
                algorithm.validate(setting, problem)
        else:
            algorithm.validate(setting, problem)


def test_the_example_of_the_documentation_runs():
    text = Path(__file__).parents[2].joinpath("docs/how-to/adding.md").read_text()
    found = {}
    exec(text.split("```python\n")[1].split("```")[0], found)
    problem, setting = logistic(), Setting(clients=5, local_steps=3, rounds=4, batch=2)
    runs = [Simulation(one, problem, setting, seed=1).run() for one in (found["FedMine"](lr=0.1), example("fedavg"))]
    assert (runs[0].x == runs[1].x).all()


def test_unknown_names_get_a_guess():
    with pytest.raises(UserError, match="did you mean 'scaffold'"):
        algorithms.get("scafold")
    with pytest.raises(UserError, match=r"no option 'learning_rate'.*known: lr"):
        algorithms.create("fedavg", {"learning_rate": 1})
    with pytest.raises(UserError, match="needs a value for 'lr'"):
        algorithms.create("fedavg", {})
