"""Costs of two algorithms that must be equal, of real runs."""

import pandas as pd
import pytest

from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.results.claims.verdicts import HELD, NOT_HELD
from tests.helpers import example, quadratic
from tests.synthetic import table

from .fixtures import judged, view

IDS, AXIS = ("fedavg", "fedawe", "scaffold"), "participation"


@pytest.fixture(scope="module")
def lines():
    """Curves of runs whose clients come and go."""
    setting = Setting(clients=3, rounds=6, eval_rounds=2, participation={"kind": "bernoulli", "p": [0.9, 0.3, 0.5]})
    frames = []
    for id in IDS:
        for seed in (0, 1):
            rows = Simulation(example(id), quadratic(clients=3), setting, seed).run().rows
            frames.append(pd.DataFrame(rows).assign(algorithm=id, seed=seed, status="ok", **{AXIS: "bernoulli"}))
    return pd.concat(frames, ignore_index=True)


@pytest.mark.parametrize(
    ("rival", "cost", "expected"),
    [
        *(("fedavg", cost, HELD) for cost in ("gradients", "samples", "vectors_up", "vectors_down")),
        ("scaffold", "vectors_up", NOT_HELD),
        ("scaffold", "vectors_down", NOT_HELD),
    ],
)
def test_fedawe_costs_as_much_as_fedavg_and_half_of_what_scaffold_sends(lines, rival, cost, expected):
    frame = table([(id, ("bernoulli",), 1.0) for id in IDS], (AXIS,))
    check = {"kind": "equal", "algorithms": ["fedawe", rival], "statistic": "final", "tolerance": 1e-9}
    result = judged(view(IDS, (AXIS,)), frame, lines, **check, metric=cost)
    assert result["verdict"] == expected
    assert result["ours"].startswith(
        "largest relative difference 0" if expected == HELD else "relative difference -0.5"
    )
