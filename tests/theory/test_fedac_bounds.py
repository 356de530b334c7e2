"""What theorems on FedAc promise in the settings of an experiment."""

import dataclasses

import pandas as pd
import pytest

from fedatlas.data.store import prepare
from fedatlas.errors import UserError
from fedatlas.experiments.cells import Select
from fedatlas.experiments.experiment_view import AlgorithmView, ExperimentView
from fedatlas.federation import problems
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedac.constants import fedac_constants
from fedatlas.workflow.inputs.theorems import add_bounds

VIEW = ExperimentView(
    name="made_up",
    size="smoke",
    axes=["clients", "local_steps"],
    tune=["lr"],
    select=Select(metric="suboptimality", statistic="best", goal="min"),
    problem={"kind": "logistic", "data": "breast_cancer", "l2": 0.01},
    setting={"steps": 64},
    seeds=[0],
    algorithms={id: AlgorithmView(id, id) for id in ("fedavg", "fedac-1", "mb-sgd")},
)
TABLE = pd.DataFrame(
    [(id, clients, K) for id in VIEW.algorithms for clients in (4, 16) for K in (1, 8)],
    columns=["algorithm", "clients", "local_steps"],
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data")
    prepare("breast_cancer", path)
    return path


def test_bounds_are_those_of_each_setting(folder):
    result = add_bounds(VIEW, {"fedavg": "D.1", "fedac-1": "B.1"}, TABLE, folder)
    c = fedac_constants(problems.create(VIEW.problem, 1, folder))
    for _, row in result[result["algorithm"] != "mb-sgd"].iterrows():
        theorem = FEDAC_THEOREMS["D.1" if row["algorithm"] == "fedavg" else "B.1"]
        setting = dataclasses.replace(c, M=row["clients"], K=row["local_steps"])
        assert row["bound"] == theorem.bound(setting, None, 64 // row["local_steps"])
    assert result[result["algorithm"] == "mb-sgd"]["bound"].isna().all()
    assert "bound" not in TABLE


def test_a_theorem_that_does_not_apply_promises_nothing(folder):
    result = add_bounds(VIEW, {"fedavg": "E.4"}, TABLE, folder)  # which asks for 100 steps
    assert result["bound"].isna().all()
    longer = dataclasses.replace(VIEW, setting={"steps": 128})
    assert add_bounds(longer, {"fedavg": "E.4"}, TABLE, folder)["bound"].notna().sum() == 4


def test_unknown_theorems_and_problems(folder):
    with pytest.raises(UserError, match=r"did you mean 'E\.1'"):
        add_bounds(VIEW, {"fedavg": "E1"}, TABLE, folder)
    other = dataclasses.replace(VIEW, problem={"kind": "quadratic", "dim": 4})
    with pytest.raises(UserError, match="logistic"):
        add_bounds(other, {"fedavg": "E.1"}, TABLE, folder)
