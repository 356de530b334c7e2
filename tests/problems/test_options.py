"""Options of problems: what there is, of which type, in which range; one sentence for anything else; and provenance."""

import pytest

import fedatlas
from fedatlas import UserError
from fedatlas.experiments.validation import check_problem
from fedatlas.federation import problems
from fedatlas.federation.networks.network import Network
from fedatlas.federation.problems import PROBLEMS
from fedatlas.federation.problems.logistic import Logistic, LogisticRegression
from fedatlas.federation.problems.piecewise import Piecewise
from fedatlas.federation.problems.quadratic import Quadratic
from fedatlas.federation.problems.similar import SimilarQuadratic
from fedatlas.federation.problems.softmax import Softmax

QUADRATIC = {"kind": "quadratic", "dim": 3}
LOGISTIC = {"kind": "logistic", "data": "breast_cancer"}
NETWORK = {"kind": "network", "data": "digits"}


@pytest.mark.parametrize(
    "spec, message",
    [
        ({"kind": "quadratik"}, "unknown problem 'quadratik'; did you mean 'quadratic'"),
        ({"data": "a9a"}, "has no kind"),
        (QUADRATIC | {"dimm": 3}, "problem quadratic has no option 'dimm'; did you mean 'dim'"),
        ({"kind": "logistic"}, "problem logistic needs a value for 'data'"),
        (QUADRATIC | {"data": "a9a"}, "problem quadratic is synthetic and takes no data"),
        (LOGISTIC | {"data": "brest_cancer"}, "unknown data set 'brest_cancer'; did you mean 'breast_cancer'"),
        (LOGISTIC | {"test": ["a9a"]}, "test is \\['a9a'\\]; it must be text, or null"),
        (LOGISTIC | {"test": "a9"}, "unknown data set 'a9'; did you mean 'a9a'"),
        (LOGISTIC | {"partition": "idd"}, "unknown partition 'idd'; did you mean 'iid'"),
        (LOGISTIC | {"weights": "rows"}, "weights is 'rows'; it must be one of 'equal', 'size'"),
        (QUADRATIC | {"dim": 0}, "dim is 0; it must be a whole number, at least 1"),
        (LOGISTIC | {"l2": float("nan")}, "l2 is nan; it must be a number, at least 0"),
        (NETWORK | {"eval_samples": -1}, "eval_samples is -1; it must be a whole number, at least 1, or 'all'"),
        (NETWORK | {"architecture": "lenet5"}, "unknown architecture 'lenet5'; did you mean 'lenet'"),
        (NETWORK | {"architecture": {"kind": "cnn", "widht": 3}}, "architecture cnn has no option 'widht'"),
        (NETWORK | {"augment": {"zoom": 2}}, "augment has no option 'zoom'"),
        (NETWORK | {"augment": {"crop": -1}}, "augment: crop is -1; it must be a whole number, at least 0"),
        (NETWORK | {"precision": "tf32", "dtype": "float64"}, "precision tf32 is for parameters in float32"),
        ({"kind": "quadratic"}, "give either dim, for a synthetic instance, or centers"),
        (QUADRATIC | {"curvatures": [1]}, "curvatures go with centers"),
        ({"kind": "piecewise", "kappa": 25}, "problem piecewise needs a value for 'steps'"),
        ({"kind": "similar", "components": 5}, "components is 5; it must be an even number"),
    ],
)
def test_mistakes_are_one_sentence(spec, message):
    with pytest.raises(UserError, match=message) as caught:
        check_problem(spec)
    assert "\n" not in str(caught.value)


ORACLES = {
    "logistic": Logistic,
    "network": Network,
    "piecewise": Piecewise,
    "quadratic": Quadratic,
    "similar": SimilarQuadratic,
    "softmax": Softmax,
}
LEAST = {"piecewise": {"kappa": 25, "steps": 3}, "quadratic": {"dim": 3}, "similar": {"dim": 12, "similarity": 1}}


@pytest.mark.parametrize("kind", sorted(ORACLES))
def test_a_wrong_value_of_any_option_is_one_sentence(kind):
    cls = PROBLEMS.get(kind)
    least = LEAST.get(kind, {}) | ({"data": "a9a"} if cls.on_data else {})
    for name in problems.spec_options(cls):
        with pytest.raises(UserError, match=rf"^problem {kind}: {name} is .*; it must be ") as caught:
            check_problem({"kind": kind, **least, name: {1, 2}})
        assert "\n" not in str(caught.value)


def test_provenance_names_the_clock_and_for_networks_device_and_torch():
    kind, sources = problems.parse({"kind": "network", "data": "digits", "partition": "iid"})
    assert (
        kind.provenance()["device"] == "cpu"
        and kind.provenance()["clock"] == "processor"
        and kind.provenance()["torch"]
    )
    assert (sources.data, sources.test, sources.partition) == ("digits", None, "iid")
    assert problems.parse({"kind": "quadratic", "dim": 3})[0].provenance() == {"clock": "processor"}


def test_data_are_validated_by_their_declaration(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setenv("FEDATLAS_DATA", str(tmp_path))
    monkeypatch.setattr(LogisticRegression, "validate_data", lambda _, train: seen.append(train.shape))
    fedatlas.train("fedavg", {"kind": "logistic", "data": "breast_cancer"}, clients=2, rounds=1, lr=0.1)
    assert seen == [(30,)]
