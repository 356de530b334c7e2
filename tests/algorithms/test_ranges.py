"""Sentences about values that an algorithm refuses. All values are tried by `fedatlas.testing.declaration.refusals`."""

import pytest

from fedatlas import UserError
from fedatlas.federation import algorithms
from fedatlas.workflow.schema import of_option
from tests.helpers import example


def test_the_sentence_names_both_bounds():
    with pytest.raises(UserError, match=r"beta1 is 1; it must be a number, at least 0, less than 1$"):
        example("fedadam", beta1=1)
    with pytest.raises(UserError, match=r"p is 0; it must be a number larger than 0, at most 1$"):
        example("svrp-gd", p=0)


def test_the_schema_has_both_bounds():
    result = of_option(algorithms.get("fedadam").options()["beta1"])
    assert {key: result[key] for key in ("minimum", "exclusiveMaximum")} == {"minimum": 0, "exclusiveMaximum": 1}


@pytest.mark.parametrize("name", algorithms.names())
def test_unknown_options_are_refused_with_a_guess(name):
    first = next(iter(algorithms.get(name).options()))
    with pytest.raises(UserError, match=rf"has no option '{first}_'(; did you mean '\w+'\?)? \(known: {first}\b"):
        algorithms.create(name, {first + "_": 1})
