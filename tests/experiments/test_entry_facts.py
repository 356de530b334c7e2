"""Facts about entries of an experiment: which are deterministic, and which are not tuned."""

import numpy as np
import pytest

from fedatlas.experiments.entry_facts import is_deterministic, untuned_parameters
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


FEDAVG = {"algorithm": "fedavg", "set": {"lr": 0.1}}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"setting": {**SETTING, "batch": 2}}, False),
        ({"setting": {"clients": 4, "rounds": 3}}, False),
        (
            {"setting": {"clients": 4, "rounds": 3, "batch": None, "participation": {"kind": "uniform", "count": 2}}},
            False,
        ),
        ({"problem": {"kind": "quadratic"}}, False),  # the start is normal
        ({"problem": {"kind": "quadratic", "start_scale": 0.0, "instance": "seed"}}, False),
        ({"within": {"batch": [1, None]}}, False),
        ({"within": {"local_steps": [1, 2]}}, True),
        ({"setting": {**SETTING, "channel": {"down": "sign"}}}, True),
        ({"setting": {**SETTING, "channel": {"kind": "qsgd", "levels": 2}}}, False),
        ({"within": {"channel": ["identity", "sign"]}}, False),
        ({"algorithms": {"it": {"algorithm": "ef21", "set": {"lr": 0.1}}}}, True),
        ({"algorithms": {"it": {"algorithm": "diana", "set": {"lr": 0.1}}}}, False),
        ({"algorithms": {"it": {"algorithm": "diana", "set": {"lr": 0.1, "compressor": "identity"}}}}, True),
        ({"algorithms": {"it": {"algorithm": "fedred-gd", "set": {"eta": 1, "p": 0.5, "lam": 1}}}}, False),
    ],
)
def test_runs_are_deterministic_where_nothing_is_drawn(changes, expected):
    assert is_deterministic(an_experiment(FEDAVG, **changes), "it") == expected


@pytest.mark.parametrize("name", each_algorithm())
def test_seeds_agree_where_the_specification_says_so(name):
    if not is_deterministic(an_experiment({"algorithm": name}), "it"):
        return
    problem = SyntheticQuadratic(dim=6, L=5.0, heterogeneity=1.0, start_scale=0.0).build(4)
    with where_defined():
        algorithm = example(name)
        setting = Setting(clients=4, local_steps=3, rounds=3, batch=None)
        ends = [Simulation(algorithm, problem, setting, seed).run().x for seed in (0, 1)]
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        (FEDAVG, ["lr"]),
        ({"algorithm": "fedavg", "set": {"lr": "1/L"}}, []),
        ({"algorithm": "fedavg", "tune": {"lr": [0.1, 1]}}, []),
        ({"algorithm": "fedavg", "tune": {"lr": [0.1]}, "set": {"server_lr": 1.0}}, []),
        ({"algorithm": "fedadam", "tune": {"lr": [0.1, 1]}, "set": {"server_lr": 0.1}}, ["server_lr"]),
        ({"algorithm": "fedsps", "set": {"smoothing": "bound"}}, []),
        ({"algorithm": "fedsps", "set": {"gamma_b": 1.0}}, ["gamma_b"]),
    ],
)
def test_values_that_nobody_tuned(entry, names):
    result = an_experiment(entry)
    assert untuned_parameters(result, "it", result.tuning_grid("it")) == names
