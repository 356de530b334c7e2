"""What every kind of problem and every architecture declares."""

import pytest

from fedatlas import UserError
from fedatlas.federation import problems
from fedatlas.federation.networks.network import Network
from fedatlas.federation.problems import PROBLEMS
from fedatlas.federation.problems.interactive import validate
from fedatlas.federation.problems.logistic import Logistic
from fedatlas.federation.problems.piecewise import Piecewise
from fedatlas.federation.problems.quadratic import Quadratic
from fedatlas.federation.problems.similar import SimilarQuadratic
from fedatlas.federation.problems.softmax import Softmax

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
            validate({"kind": kind, **least, name: {1, 2}})
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
