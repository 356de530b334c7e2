"""Every hyper-parameter of every algorithm refuses what lies outside its range, in one sentence."""

import math
import re

import pytest

from fedatlas import UserError, algorithms
from tests.helpers import example

PARAMETERS = [(name, f) for name in algorithms.names() for f in algorithms.get(name).options().values()]
NEVER = ["x", [0.1], {"a": 1}, math.nan]


def outside(f):
    """Values that the declared range of a parameter excludes."""
    meta = f.metadata
    if meta["choices"] or isinstance(f.default, bool):
        return ["neither", 3.5]
    found = [-math.inf, math.inf, True]
    if meta["above"] is not None:
        found += [meta["above"], meta["above"] - 1]
    if meta["low"] is not None:
        found.append(math.nextafter(meta["low"], -math.inf))
    if meta["high"] is not None:
        found.append(math.nextafter(meta["high"], math.inf))
    return found


@pytest.mark.parametrize("name, f", PARAMETERS, ids=[f"{name}.{f.name}" for name, f in PARAMETERS])
def test_values_outside_are_refused(name, f):
    for value in [*NEVER, *outside(f)]:
        with pytest.raises(UserError, match=rf"^{re.escape(name)}: {f.name} is ") as caught:
            example(name, **{f.name: value})
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", algorithms.names())
def test_unknown_parameters_are_refused_with_a_guess(name):
    parameters = list(algorithms.get(name).options())
    if parameters:
        with pytest.raises(UserError, match=f"has no option .*did you mean '{parameters[0]}'|known: "):
            algorithms.create(name, {parameters[0] + "_": 1})
