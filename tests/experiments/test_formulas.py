"""Hyper-parameters in terms of the problem's constants."""

import pytest

from fedatlas.errors import Undefined, UserError
from fedatlas.experiments.cells import CellSpec, Run, Select
from fedatlas.experiments.result_files import read
from fedatlas.experiments.run import run_cell
from fedatlas.experiments.runs import create, runs
from fedatlas.experiments.values import check_constants, evaluate_formula
from fedatlas.federation.algorithms import ALGORITHMS
from tests.helpers import quadratic

FIELDS = ALGORITHMS.get("dane+-gd").options()


@pytest.mark.parametrize(
    ("text", "value"),
    [("1/L", 0.1), ("2*delta_B", 1.0), ("L - (mu + 0.5)*2", 7.0), ("3e-2", 0.03), ("1/L/2", 0.05)],
)
def test_value_of_a_formula(text, value):
    assert evaluate_formula(text, "lr", quadratic(mu=1.0, L=10.0, similarity=0.5)) == pytest.approx(value)


NO_FORMULAS = ["1/", "L**2", "import os", "f(L)", "L.real", "'L'", "1/(L-L)", "True", "", "\0", "\ud800", "9" * 400]


@pytest.mark.parametrize("text", NO_FORMULAS)
def test_what_is_no_formula(text):
    with pytest.raises(UserError, match="lr"):
        evaluate_formula(text, "lr", quadratic())


def test_an_unknown_constant_is_told_with_the_hyper_parameter():
    with pytest.raises(Undefined, match=r"lam is '2[*]delta': this problem has no constant 'delta'"):
        check_constants({"lam": "2*delta"}, FIELDS, ["L"])


def test_runs_are_created_with_them():
    setting = {"clients": 5, "rounds": 3, "batch": None}
    run = Run("gd", {"lr": "1/L"}, {"kind": "quadratic"}, setting, seed=0, within={}, tune={})
    assert create(run)[0].lr == 1
    assert create(run, quadratic(L=10.0))[0].lr == pytest.approx(0.1)


def test_settings_are_tuned_and_seeds_are_an_algorithms_own(tmp_path):
    """Local steps as a tuned value: its runs have their own draws, and a table chooses among them."""
    setting, problem = {"clients": 3, "rounds": 2, "batch": None}, {"kind": "quadratic", "dim": 4}
    select = Select(metric="loss", statistic="final", goal="min", extend=0, seeds=[1000])
    tune = {"local_steps": [1, 3]}
    spec = CellSpec("fedavg", {"lr": "0.1/L"}, problem, setting, tune=tune, seeds=[4], select=select)
    assert [run.setting["local_steps"] for run in runs(spec)] == [1, 3]
    run_cell(spec, tmp_path / "it.parquet")
    frame, _ = read(tmp_path / "it.parquet")
    assert frame.groupby("local_steps")["steps"].max().to_dict() == {1: 2, 3: 6}
    assert set(frame["seed"]) == {1000, 4}
