"""Every option of every algorithm refuses values outside its range, in one sentence."""

import math
import re

import pytest

from fedatlas import UserError, algorithms
from fedatlas.workflow.schema import of_option
from tests.helpers import example

OPTIONS = [(name, one) for name in algorithms.names() for one in algorithms.get(name).options().values()]
NEVER = ["x", [0.1], {"a": 1}, math.nan]


def outside(one):
    """Values that the declared type and range of an option exclude."""
    if not one.numeric:
        return ["neither", 3.5]
    found = [-math.inf, math.inf, True]
    if float not in one.members:
        found += [0.5, 3.0]
    if one.above is not None:
        found += [one.above, one.above - 1]
    if one.below is not None:
        found += [one.below, one.below + 1]
    if one.low is not None:
        found.append(math.nextafter(one.low, -math.inf))
    if one.high is not None:
        found.append(math.nextafter(one.high, math.inf))
    return found


@pytest.mark.parametrize("name, one", OPTIONS, ids=[f"{name}.{one.name}" for name, one in OPTIONS])
def test_values_outside_are_refused(name, one):
    for value in [*NEVER, *outside(one)]:
        with pytest.raises(UserError, match=rf"^algorithm {re.escape(name)}: {one.name} is ") as caught:
            example(name, **{one.name: value})
        assert "\n" not in str(caught.value)


def test_the_sentence_names_both_bounds():
    with pytest.raises(UserError, match=r"beta1 is 1; it must be a number, at least 0, less than 1$"):
        example("fedadam", beta1=1)
    with pytest.raises(UserError, match=r"p is 0; it must be a number larger than 0, at most 1$"):
        example("svrp-gd", p=0)


def test_the_schema_has_both_bounds():
    found = of_option(algorithms.get("fedadam").options()["beta1"])
    assert {key: found[key] for key in ("minimum", "exclusiveMaximum")} == {"minimum": 0, "exclusiveMaximum": 1}


@pytest.mark.parametrize("name", algorithms.names())
def test_unknown_options_are_refused_with_a_guess(name):
    first = next(iter(algorithms.get(name).options()))
    with pytest.raises(UserError, match=rf"has no option '{first}_'(; did you mean '\w+'\?)? \(known: {first}\b"):
        algorithms.create(name, {first + "_": 1})
