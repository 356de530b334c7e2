"""Kinds of figure: found by existing, declared once, drawn by their declaration alone."""

import re

import pytest

from fedatlas.errors import UserError
from fedatlas.results.figures import FIGURES

NAMES = {
    "algorithm",
    "axis",
    "cost or time",
    "metric",
    "tuned",
    "metric or tuned numbers",
    "algorithms",
    "where",
    "theorem",
    "limit",
}


@pytest.mark.parametrize(
    "spec, message",
    [
        ("scalling", "unknown figure 'scalling'; did you mean 'scaling'? (known: "),
        ({"x": "clients"}, "has no kind"),
        ({"kind": "scaling"}, "figure scaling needs a value for 'x'"),
        ({"kind": "scaling", "x": 3}, "figure scaling: x is 3; it must be text"),
        (
            {"kind": "scaling", "x": "clients", "pannel": "K"},
            "figure scaling has no option 'pannel'; did you mean 'panel'?",
        ),
        ({"kind": "scaling", "x": "clients", "reference": "square"}, "reference is 'square'; it must be 'linear'"),
        ({"kind": "convergence", "x": "rounds", "yscale": "ln"}, "yscale is 'ln'; it must be one of 'log', 'linear'"),
        ({"kind": "convergence", "x": "rounds", "where": [3]}, "where is [3]; it must be a mapping"),
        ({"kind": "convergence", "x": "rounds", "algorithms": "fedavg"}, "algorithms is 'fedavg'; it must be a list"),
        ({"kind": "heatmap", "x": "a", "rows": "b", "after": -1}, "after is -1; it must be a whole number, at least 0"),
        (
            {"kind": "targets", "x": "rounds", "targets": [0.5, "best"]},
            "it must be a list of different values that is not empty, of which each entry is a number",
        ),
        ({"kind": "bound", "theorems": [4.5]}, "each entry is a whole number or text"),
        ({"kind": "partition", "where": {}}, "figure partition has no option 'where' (it takes none)"),
    ],
)
def test_wrong_options_give_one_sentence(spec, message):
    with pytest.raises(UserError, match=re.escape(message)) as error:
        FIGURES.build(spec)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "spec, inputs",
    [
        ("partition", {"partitions"}),
        ("availability", {"availability"}),
        ({"kind": "scaling", "x": "clients"}, set()),
        ({"kind": "table", "x": "clients"}, set()),
        ({"kind": "bound", "theorems": [4]}, set()),
    ],
)
def test_inputs_depend_on_the_options(spec, inputs):
    assert FIGURES.build(spec).inputs == inputs
