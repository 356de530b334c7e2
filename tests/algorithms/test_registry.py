"""Tests of all registered algorithms."""

import inspect
import re

import pytest

from fedatlas import UserError
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.problems.quadratic import Quadratic
from fedatlas.registry import bibliography
from fedatlas.testing import CONFORMANCE_TESTS, FAILED, PASSED, Implementation, transcriptions
from fedatlas.testing.outcomes import run_test
from fedatlas.workflow.resources import client_vectors
from tests.helpers import example, logistic, quadratic

NAMES = ALGORITHMS.names()


# Conformance tests that apply to all algorithms.
UNCONDITIONAL = ("runs", "seeds", "costs", "agreement")


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
    ("fedspeed", {"mean": "active", "rho": 0.2}),
    ("fedspeed", {"clip": 0.2, "decoupled": 0.05}),  # clips most steps
    ("fedspeed", {"prox": False, "correction": False, "perturbation": False}),  # Table 7
    ("fedspeed", {"correction": False, "clip": 0.2}),
    ("fedspeed", {"prox": False, "correction": False, "clip": 0.2}),
    ("fedspeed", {"perturbation": False, "mean": "active"}),
    ("fedcm", {"decoupled": 0.05}),
    ("fedadmm", {"server_lr": 0.7}),
    ("fedsps", {"l_star": -0.5, "c": 4.0}),
    ("fedsps", {"smoothing": "bound", "gamma_b": 0.3, "c": 0.5}),
    ("fedsps", {"smoothing": "step", "gamma_b": 0.3, "c": 0.5}),
    ("fedsps-normalized", {"smoothing": "bound", "gamma_b": 0.3}),
    ("fedsps-normalized", {"smoothing": "step", "gamma_b": 0.3}),
    ("fedsps-global", {"l_star": -0.5, "c": 4.0}),
    ("fedsps-global", {"aggregation": "norms", "c": 4.0}),
    ("fedsps-global", {"aggregation": "gradients", "c": 4.0}),
    ("feddecsps", {"memory": "restarted"}),
    ("feddecsps", {"memory": "restarted", "gamma_b": 1e-3}),
    ("fedadam", {"server_lr": 0.3}),
    ("fedadam", {"first_v": 0.0}),
    ("fedams", {"server_lr": 0.3}),
    ("f3ast", {"beta": 0.3, "r0": "p"}),
    ("ditto", {"weight": 0.0}),
    ("fedrep", {"body_steps": 2, "head": 3}),
]


FAMILIES = {ALGORITHMS.get(name).__module__: name for name in reversed(NAMES)}  # the first algorithm of each module


EVERYTHING = ("fedavg", "scaffold", "fedac-1", "fedspeed", "diana")  # with all that an algorithm may have


SHORT = {*UNCONDITIONAL, "checkpoint", "blocks", "empty-rounds"} - {"runs", "seeds"}  # a run that agrees runs


@pytest.mark.parametrize(
    ("name", "keys"),
    [(name, CONFORMANCE_TESTS.keys()) for name in EVERYTHING]
    + [(name, SHORT) for name in FAMILIES.values() if name not in EVERYTHING]
    + [(name, {"agreement"}) for name in NAMES if name not in FAMILIES.values()]
    + [
        pytest.param(name, CONFORMANCE_TESTS.keys(), marks=pytest.mark.slow) for name in NAMES if name not in EVERYTHING
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_passes_conformance_tests(name, keys):
    """The functions are those of `fedatlas check`: all of some, and of the others those of what is their own.

    Those of the engine need no second algorithm; `make slow` runs all of all. That of the optimum is about those that
    declare it.
    """
    implementation = Implementation(ALGORITHMS.get(name))
    tests = [CONFORMANCE_TESTS[key] for key in keys if key != "optimum" or implementation.cls.corrects_drift]
    outcomes = [run_test(test, implementation) for test in tests]
    assert [outcome for outcome in outcomes if outcome.status == FAILED] == []
    assert [outcome for outcome in outcomes if outcome.status != PASSED and outcome.test in UNCONDITIONAL] == []


@pytest.mark.parametrize("name", NAMES)
def test_says_what_it_is_in_one_sentence_whose_it_is_and_what_its_options_mean(name):
    cls = ALGORITHMS.get(name)
    text = inspect.getdoc(cls)
    assert re.fullmatch(rf"{re.escape(cls.label)}(?!\w).* is .+[A-Za-z0-9|)]\.", text.splitlines()[0])
    assert re.search(r"\b(19[5-9]|20[0-9])\d\b", text) and cls.cite in bibliography.entries()
    for option in cls.options().values():
        assert option.doc and (option.unit or int not in option.members or "seed" in option.name), option.name


@pytest.mark.parametrize("name, values", CHOICES, ids=str)
def test_equals_its_transcription_with_other_choices(name, values, monkeypatch):
    """Where some clients take part, or none, and with full gradients; the defaults agree in all conditions."""
    labels = ("3 of 5 clients in a round", "rounds without clients", "full gradients")
    monkeypatch.setattr(transcriptions, "CONDITIONS", {label: transcriptions.CONDITIONS[label] for label in labels})
    monkeypatch.setattr(transcriptions, "SHARED", {})
    cls = ALGORITHMS.get(name)
    required = {key: getattr(example(name), key) for key, option in cls.options().items() if option.required}
    transcriptions.agreement(Implementation(cls, required | values))


@pytest.mark.parametrize(
    "name, options, count",
    [
        ("fedavg", {}, 0),
        ("fedau", {}, 0),  # three numbers
        *((name, {}, 0) for name in ("fedavg-all", "fedavg-known-p", "f3ast")),
        *((name, {}, 1) for name in ("fedawe", "mifa", "fedvarp", "scaffold")),
        ("fedadmm", {}, 2),
        ("sonata", {}, 3),
        ("ditto", {}, 1),
        ("fedspeed", {}, 1),
        ("fedspeed", {"prox": False, "correction": False}, 0),
        ("fedred", {"average": "weighted"}, 3),
    ],
)
def test_number_of_vectors_in_a_clients_state(name, options, count):
    assert client_vectors(example(name, **options)) == count


@pytest.mark.parametrize("name", ["dane", "fedred", "dane+-gd"])
def test_exact_proximal_steps_need_a_problem_or_a_class_that_has_them(name):
    setting, algorithm = Setting(clients=5, rounds=1), example(name)
    for problem in (quadratic(), Quadratic):
        algorithm.validate(setting, problem)
    for problem in (logistic(), Logistic):
        if "prox" in algorithm.requires:
            with pytest.raises(UserError, match=rf"^algorithm {name} solves subproblems exactly, but this problem has"):
                algorithm.validate(setting, problem)
        else:
            algorithm.validate(setting, problem)
