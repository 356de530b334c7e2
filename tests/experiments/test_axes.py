"""Axes that reach into lists."""

import pytest

from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.runs import assign


def test_axes_reach_into_lists():
    spec = {"setting": {"participation": {"kind": "stationary", "p": [0.5, 0.5]}}}
    assign(spec, {"participation.p.1": 0.2})
    assert spec["setting"]["participation"]["p"] == [0.5, 0.2]
    for axis in ("participation.p.2", "participation.p.x", "participation.p.-1"):
        with pytest.raises(UserError, match="leads nowhere in"):
            assign(spec, {axis: 0.2})


def test_names_of_axes_inside_lists_count_from_one():
    assert labels.axis("participation.p.0", {}) == "$p_{1}$"
    assert labels.point("participation.p.11", 0.3) == "p₁₂ = 0.3"
    assert labels.point("problem.curvatures.0.1", 4) == "a₁,₂ = 4"
