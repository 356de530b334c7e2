"""What every kind of check declares, and how wrong options are told."""

from pathlib import Path

import pytest

from fedatlas.errors import UserError
from fedatlas.experiments import experiment_file
from fedatlas.results.claims import CHECKS

ROOT = Path(__file__).parents[2]
TIMED = {"simulated_seconds"}
SCALES = {
    "kind": "exponent",
    "algorithms": ["gd"],
    "against": "L/mu",
    "shares": [0.1],
    "at_least": 0.5,
}
REQUIRED = {
    "below": {"algorithms", "theorem"},
    "better": {"algorithm", "than"},
    "drop": {"algorithms", "axis", "start", "end"},
    "exponent": set(),
    "equal": {"algorithms", "tolerance"},
    "reaches": {"algorithms"},
}


@pytest.mark.parametrize(
    ("spec", "inputs"),
    [
        ({"kind": "below", "algorithms": ["dane"], "theorem": 4}, {"theorems"}),
        ({"kind": "exponent", "along": {"fedac-1": 1}, "theorem": "B.1"}, {"theorems"}),
        ({"kind": "better", "algorithm": "a", "than": ["b"]}, set()),
        ({"kind": "better", "algorithm": "a", "than": ["b"], "cost": "rounds"}, set()),
        ({"kind": "better", "algorithm": "a", "than": ["b"], "cost": "simulated_seconds"}, TIMED),
        (SCALES, {"theorems"}),
        ({**SCALES, "per": "simulated_seconds"}, {"theorems", *TIMED}),
    ],
)
def test_what_a_check_needs_besides_table_and_curves(spec, inputs):
    assert CHECKS.build(spec).inputs == inputs


CONTEST = {"kind": "better", "algorithm": "fedac-1", "than": ["fedavg"]}
SPEEDUP = {"kind": "exponent", "algorithms": ["fedavg"], "axis": "clients"}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({**CONTEST, "kind": "beter"}, "unknown check 'beter'; did you mean 'better'"),
        ({**CONTEST, "at_leas": 2}, "check better has no option 'at_leas'; did you mean 'at_least'"),
        ({"kind": "better", "algorithm": "fedac-1"}, "check better needs a value for 'than'"),
        ({**CONTEST, "than": "fedavg"}, "check better: than is 'fedavg'; it must be a list"),
        ({**CONTEST, "than": []}, "check better: than is []; it must be a list that is not empty, of which each"),
        ({**CONTEST, "at_least": "2x"}, "check better: at_least is '2x'; it must be a number"),
        ({**CONTEST, "at_least": True}, "at_least is True"),
        ({"kind": "reaches", "algorithms": ["a"], "quantity": "choice"}, "the choice needs values"),
        ({**CONTEST, "where": ["clients"]}, "where is ['clients']; it must be a mapping"),
        ({**CONTEST, "paper": [7]}, "paper is [7]; it must be a number"),
        ({**CONTEST, "statistic": "mean"}, "statistic is 'mean'; it must be one of 'best', 'final'"),
        (SPEEDUP, "check exponent needs at_least, at_most or theorem"),
        ({"kind": "equal", "algorithms": [], "tolerance": 1}, "algorithms is []; it must be a list that is not empty"),
        (
            {"kind": "drop", "algorithms": ["fedavg"], "axis": "clients", "start": 1, "end": 2},
            "check drop needs at_least, at_most, above or matters",
        ),
        ({"kind": "reaches", "algorithms": ["fedavg"]}, "check reaches needs at_least or at_most"),
        (
            {"kind": "reaches", "metric": "loss", "algorithms": ["fedavg"], "at_least": 2, "at_most": 1},
            "check reaches: at_least 2 is larger than at_most 1",
        ),
        ({**CONTEST, "target": 0.1}, "check better: a reduction or target needs a cost"),
        ({**CONTEST, "after": 3, "cost": "rounds"}, "and after without a cost"),
        ({"kind": "reaches", "algorithms": ["a"], "quantity": "length", "at_most": 3}, "the length needs target"),
        (
            {"kind": "reaches", "algorithms": ["a"], "quantity": "spread", "at_most": 3, "cost": "rounds"},
            "not of the spread",
        ),
        ({"kind": "reaches", "algorithms": ["a"], "at_least": 0, "share": 2}, "it must be a number between 0 and 1"),
        ({"kind": "reaches", "algorithms": ["a"], "after": 1.5}, "it must be a whole number"),
        ({"kind": "equal", "algorithms": ["a"], "tolerance": float("nan")}, "tolerance is nan"),
    ],
)
def test_wrong_options_give_one_sentence(spec, message):
    with pytest.raises(UserError) as error:
        CHECKS.build(spec)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_checks_of_the_atlas_can_be_built():
    result = set()
    for path in sorted((ROOT / "config/experiments").glob("*.yaml")):
        document = experiment_file.document(path)
        for size in document["sizes"].values():
            for claim in experiment_file.merge(document, size or {}).get("claims", {}).values():
                result.add(CHECKS.build(claim["check"]).name)
    assert result >= set(REQUIRED)
