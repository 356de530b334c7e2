"""Facts about entries of an experiment: which are deterministic, and which are not tuned."""

import numpy as np
import pytest

from fedatlas.experiments.expansion import create_view
from fedatlas.experiments.specification import experiment
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.quadratic import SyntheticQuadratic
from tests.helpers import each_algorithm, example, where_defined

SETTING = {"clients": 4, "rounds": 3, "batch": None}


def an_experiment(entry, **changes):
    content = {
        "title": "t",
        "paper": "p",
        "source": "s",
        "problem": {"kind": "quadratic", "start_scale": 0.0},
        "setting": SETTING,
        "select": {"metric": "loss", "statistic": "final", "goal": "min"},
        "algorithms": {"it": entry},
    }
    return experiment("e", "smoke", "e.yaml", content | changes)


@pytest.mark.parametrize("name", each_algorithm())
def test_seeds_agree_where_the_specification_says_so(name):
    if not create_view(an_experiment({"algorithm": name})).algorithms["it"].deterministic:
        return
    problem = SyntheticQuadratic(dim=6, L=5.0, heterogeneity=1.0, start_scale=0.0).build(4)
    with where_defined():
        algorithm = example(name)
        setting = Setting(clients=4, local_steps=3, rounds=3, batch=None)
        ends = [Simulation(algorithm, problem, setting, seed).run().x for seed in (0, 1)]
    np.testing.assert_array_equal(*ends)
