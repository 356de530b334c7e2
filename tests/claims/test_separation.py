"""The check of how far two runs drift apart."""

import pytest

from fedatlas.errors import UserError
from fedatlas.experiments.cells import Run
from fedatlas.experiments.experiment_view import AlgorithmView
from fedatlas.results.claims import build
from fedatlas.results.claims.verdicts import HELD, NOT_HELD

from .fixtures import verdict, view

PROBLEM = {"kind": "piecewise", "kappa": 100, "steps": 30}


def experiment():
    entries = {"agd": AlgorithmView("agd", "AGD"), "fedac-1": AlgorithmView("fedac-1", "FedAc-I", set={"lr": "1/L"})}
    setting = {"clients": 1, "local_steps": 15, "steps": 30, "batch": None}
    return view(tuple(entries), ("clients",), tune=(), algorithms=entries, problem=PROBLEM, setting=setting)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"algorithm": "agd", "quantity": "growth", "at_least": 1}, HELD),
        ({"algorithm": "agd", "quantity": "last", "at_most": 1}, NOT_HELD),
        ({"algorithm": "fedac-1", "quantity": "growth", "at_least": 1}, NOT_HELD),
        ({"algorithm": "fedac-1", "quantity": "last", "at_most": 1}, HELD),
    ],
)
def test_accelerated_descent_drifts_apart_and_fedac_does_not(options, expected):
    lines = [(id, 1, 0, [(0, 1.0), (2, 0.5)]) for id in ("agd", "fedac-1")]
    rows = [(id, 1, 0.5) for id in ("agd", "fedac-1")]
    assert verdict(rows, ("clients",), experiment(), lines, kind="separation", **options)[0] == expected


def test_other_problems_have_no_such_pair_of_runs():
    check = build({"kind": "separation", "algorithm": "agd", "quantity": "last", "at_most": 1})
    run = Run("agd", seed=0, within={}, tune={}, problem={"kind": "quadratic", "dim": 2}, setting={}, parameters={})
    with pytest.raises(UserError, match="kind piecewise"):
        check.fits([("agd", run)])
