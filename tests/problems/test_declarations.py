"""What every kind of problem and every architecture declares."""

import typing

import pytest

from fedatlas import UserError
from fedatlas.federation import problems
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.networks.network import Network
from fedatlas.federation.problems import spec_validation
from fedatlas.federation.problems.base import DataKind, Problem, SyntheticKind
from fedatlas.federation.problems.data_options import DataOptions
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.problems.network import Augmentation
from fedatlas.federation.problems.piecewise import Piecewise
from fedatlas.federation.problems.quadratic import Quadratic
from fedatlas.federation.problems.similar import CONVEXITY, SimilarQuadratic, SyntheticSimilarQuadratic
from fedatlas.federation.problems.softmax import Softmax
from fedatlas.registry.options import options
from tests.helpers import logistic, network, softmax

ORACLES = {
    "logistic": Logistic,
    "network": Network,
    "piecewise": Piecewise,
    "quadratic": Quadratic,
    "similar": SimilarQuadratic,
    "softmax": Softmax,
}
LEAST = {"piecewise": {"kappa": 25, "steps": 3}, "quadratic": {"dim": 3}, "similar": {"dim": 12, "similarity": 1}}
KINDS = [*map(problems.get, problems.PROBLEMS.names()), *map(ARCHITECTURES.get, ARCHITECTURES.names())]


def test_every_kind_is_found_and_each_lies_in_a_module_of_its_name():
    assert set(ORACLES) <= set(problems.PROBLEMS.names())
    assert {"cnn", "lenet", "linear", "mlp", "resnet18"} <= set(ARCHITECTURES.names())
    assert all(kind.__module__.endswith(f".{kind.name}") for kind in KINDS)


@pytest.mark.parametrize("kind", [*KINDS, DataOptions, Augmentation], ids=lambda kind: kind.__name__)
def test_every_field_is_an_option_with_a_meaning(kind):
    hints = {
        name for name, hint in typing.get_type_hints(kind).items() if typing.get_origin(hint) is not typing.ClassVar
    }
    assert hints - {"name"} == set(options(kind))
    assert all(option.doc and not option.doc.endswith(".") for option in options(kind).values())
    assert kind.__doc__ and "(" not in kind.__doc__[:5]


@pytest.mark.parametrize("kind", sorted(ORACLES))
def test_a_wrong_value_of_any_option_is_one_sentence(kind):
    cls = problems.get(kind)
    least = LEAST.get(kind, {}) | ({"data": "a9a"} if cls.on_data else {})
    for name in problems.spec_options(cls):
        with pytest.raises(UserError, match=rf"^problem {kind}: {name} is .*; it must be ") as caught:
            spec_validation.validate({"kind": kind, **least, name: {1, 2}})
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ARCHITECTURES.names())
def test_a_wrong_value_of_an_architecture_is_one_sentence(name):
    for option in ARCHITECTURES.get(name).options():
        with pytest.raises(UserError, match=rf"architecture {name}: {option} is 'x'; it must be "):
            spec_validation.validate({"kind": "network", "data": "digits", "architecture": {"kind": name, option: "x"}})


@pytest.mark.parametrize("kind", sorted(ORACLES))
def test_a_declaration_says_what_its_problem_has(kind):
    cls = problems.get(kind)
    assert issubclass(cls, DataKind if cls.on_data else SyntheticKind)
    assert ("prox" in cls.oracles) == (ORACLES[kind].prox is not Problem.prox)
    if cls.on_data:
        problem = {"logistic": logistic, "softmax": softmax, "network": network}[kind]()
        assert type(problem) is ORACLES[kind] and not cls.exact and problem.optimum is None
    else:
        problem = cls(**LEAST[kind]).build(3)
        assert type(problem) is ORACLES[kind] and cls.exact and problem.optimum is not None
    assert set(cls.constants) == set(problem.constants())
    assert all(isinstance(problem.constant(name), float | int) for name in cls.constants)


def test_defaults_of_similar_quadratics_are_known_for_every_convexity():
    assert SyntheticSimilarQuadratic.options()["convexity"].words == tuple(CONVEXITY)


def test_provenance_names_the_clock_and_for_networks_device_and_torch():
    kind, sources = problems.parse({"kind": "network", "data": "digits", "partition": "iid"})
    assert (
        kind.provenance()["device"] == "cpu"
        and kind.provenance()["clock"] == "processor"
        and kind.provenance()["torch"]
    )
    assert (sources.data, sources.test, sources.partition) == ("digits", None, "iid")
    assert problems.parse({"kind": "quadratic", "dim": 3})[0].provenance() == {"clock": "processor"}
