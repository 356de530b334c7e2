"""The check of the cost of a round."""

import pandas as pd
import pytest

from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED
from tests.helpers import example, quadratic
from tests.synthetic import table

from .fixtures import judged, view

IDS, AXIS = ("fedavg", "fedawe", "scaffold"), "participation"


@pytest.fixture(scope="module")
def lines():
    """Curves of real runs, whose clients come and go."""
    setting = Setting(clients=3, rounds=6, eval_rounds=2, participation={"kind": "bernoulli", "p": [0.9, 0.3, 0.5]})
    frames = []
    for id in IDS:
        for seed in (0, 1):
            rows = Simulation(example(id), quadratic(clients=3), setting, seed).run().rows
            frames.append(pd.DataFrame(rows).assign(algorithm=id, seed=seed, status="ok", **{AXIS: "bernoulli"}))
    return pd.concat(frames, ignore_index=True)


def cost_ratio(lines, **options):
    options = {"kind": "cost_ratio", "algorithm": "fedawe", "than": ["fedavg"], "cost": "vectors_up"} | options
    return judged(view(IDS, (AXIS,)), table([(id, ("bernoulli",), 1.0) for id in IDS], (AXIS,)), lines, **options)


@pytest.mark.parametrize("cost", ["gradients", "samples", "vectors_up", "vectors_down"])
def test_fedawe_costs_as_much_as_fedavg(lines, cost):
    result = cost_ratio(lines, cost=cost, at_least=1, at_most=1)
    assert result["verdict"] == HELD and result["ours"].startswith("1 times the ") and result["value"] == 1


@pytest.mark.parametrize("cost", ["vectors_up", "vectors_down"])
def test_scaffold_sends_twice_as_much_and_fails(lines, cost):
    result = cost_ratio(lines, algorithm="scaffold", than=["fedawe", "fedavg"], cost=cost, at_most=1)
    assert result["verdict"] == NOT_HELD and result["value"] == 2 and "2 times" in result["ours"]
    assert cost_ratio(lines, algorithm="scaffold", cost=cost, at_most=2)["verdict"] == HELD
    assert cost_ratio(lines, algorithm="scaffold", cost=cost, at_least=2.1)["verdict"] == NOT_HELD


def test_one_run_that_costs_more_decides(lines):
    dear = lines.copy()
    dear.loc[(dear["algorithm"] == "fedawe") & (dear["seed"] == 1), "vectors_up"] += 0.5
    assert cost_ratio(dear, at_most=1)["verdict"] == NOT_HELD
    free = dear.assign(vectors_up=dear["vectors_up"].where(dear["algorithm"] == "fedawe", 0.0))
    assert cost_ratio(free, at_most=1)["verdict"] == NOT_HELD
    assert cost_ratio(free.assign(vectors_up=0.0), at_most=1)["verdict"] == HELD


def test_runs_of_other_seeds_are_not_compared(lines):
    apart = lines[(lines["algorithm"] == "fedawe") == (lines["seed"] == 1)]
    assert cost_ratio(apart, at_most=1)["verdict"] == NOT_TESTED
