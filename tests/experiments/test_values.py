"""Values of axes and hyper-parameters: formulas of a problem's constants, and columns that hold all kinds of value."""

import dataclasses
import json

import pandas as pd
import pytest

from fedatlas import train
from fedatlas.errors import Undefined, UserError
from fedatlas.experiments import expansion, experiment_file, labels, result_files, run
from fedatlas.experiments.cells import CellSpec, Run, Select
from fedatlas.experiments.runs import RunMeta, assign, create, runs
from fedatlas.experiments.values import check_constants, column_cells, evaluate_formula
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.workflow.configuration import validate
from tests.experiments.test_config import GOOD, load
from tests.experiments.test_run import SPEC, counted  # noqa: F401
from tests.experiments.whole import run_experiment
from tests.helpers import quadratic

FIELDS = ALGORITHMS.get("dane+-gd").options()


@pytest.mark.parametrize(
    ("text", "value"),
    [("1/L", 0.1), ("2*delta_B", 1.0), ("L - (mu + 0.5)*2", 7.0), ("3e-2", 0.03), ("1/L/2", 0.05)],
)
def test_value_of_a_formula(text, value):
    assert evaluate_formula(text, "lr", quadratic(mu=1.0, L=10.0, similarity=0.5)) == pytest.approx(value)


NOT_FORMULAS = ["1/", "L**2", "import os", "f(L)", "L.real", "'L'", "1/(L-L)", "True", "", "\0", "\ud800", "9" * 400]


@pytest.mark.parametrize("text", NOT_FORMULAS)
def test_what_is_not_a_formula(text):
    with pytest.raises(UserError, match="lr"):
        evaluate_formula(text, "lr", quadratic())


def test_an_unknown_constant_is_told_with_the_hyper_parameter():
    with pytest.raises(Undefined, match=r"lam is '2[*]delta': this problem has no constant 'delta'"):
        check_constants({"lam": "2*delta"}, FIELDS, ["L"])


def test_runs_are_created_with_formulas():
    setting = {"clients": 5, "rounds": 3, "batch": None}
    formula = Run("gd", {"lr": "1/L"}, {"kind": "quadratic"}, setting, seed=0, within={}, tune={})
    assert create(formula)[0].lr == 1
    assert create(formula, quadratic(L=10.0))[0].lr == pytest.approx(0.1)


def test_settings_are_tuned_and_seeds_are_an_algorithms_own(tmp_path):
    """Local steps as a tuned value: its runs have their own draws, and a table chooses among them."""
    setting, problem = {"clients": 3, "rounds": 2, "batch": None}, {"kind": "quadratic", "dim": 4}
    select = Select(metric="loss", statistic="final", goal="min", extend=0, seeds=[1000])
    tune = {"local_steps": [1, 3]}
    spec = CellSpec("fedavg", {"lr": "0.1/L"}, problem, setting, tune=tune, seeds=[4], select=select)
    assert [item.setting["local_steps"] for item in runs(spec)] == [1, 3]
    run.run_cell(spec, tmp_path / "it.parquet")
    frame, _ = result_files.read(tmp_path / "it.parquet")
    assert frame.groupby("local_steps")["steps"].max().to_dict() == {1: 2, 3: 6}
    assert set(frame["seed"]) == {1000, 4}


@pytest.mark.parametrize(
    "values, cells",
    [
        ([0.1, 1, 1e-300, -0.0], [0.1, 1, 1e-300, -0.0]),
        ([True, False], [True, False]),
        (["1/L", "iid"], ["1/L", "iid"]),
        ([{"kind": "iid"}, "shared", [1, 2.0]], ['{"kind": "iid"}', "shared", "[1, 2.0]"]),
        ([0.01, "1/L", 2, 2.0], ["0.01", "1/L", "2", "2"]),
        ([None, 1, "null", "1", True], ["null", "1", '"null"', '"1"', "true"]),
        ([2**53 + 1, 0.5], ["9007199254740993", "0.5"]),
    ],
)
def test_numbers_and_words_lie_as_they_are_and_the_rest_as_json(values, cells):
    result = list(map(column_cells(values), values))
    assert json.dumps(result) == json.dumps(cells)


P = {"setting": {"clients": 2, "rounds": 2, "participation": {"kind": "stationary", "p": 0.5}}}
TWO = {
    "fedavg": {"tune": {"lr": [0.01]}},
    "two": {"algorithm": "fedavg", "tune": {"lr": ["1/L", 0.01], "server_lr": [1]}},
}


SLOPES = {
    "speedup": {"kind": "exponent", "algorithms": ["fedavg"], "axis": "problem.noise", "at_least": 0},
    "choice": {"kind": "exponent", "algorithms": ["fedavg"], "axis": "problem.noise", "parameter": "lr", "at_least": 0},
}
CLAIMS = {name: {"text": "It is.", "source": "none", "check": check} for name, check in SLOPES.items()}


@pytest.mark.parametrize(
    "change",
    [
        {"algorithms": TWO},
        {"grid": {"batch": [None, 1]}},
        {"grid": {"participation.p": [0.5, [0.2, 0.5]]}, **P},
        {"within": {"participation": [{"kind": "stationary", "p": [0.1, 1]}], "participation.p.0": [0.2, 0.8]}},
        {"grid": {"participation": [{"kind": "stationary", "p": [0.1, 1]}]}, "within": {"participation.p.0": [0.2, 1]}},
        {"grid": {"problem.heterogeneity": [0.5, -0.0], "problem.diagonal": [True, False]}},
        {"grid": {"problem.noise": [0, 0.5, 1]}, "claims": CLAIMS},
        {"within": {"rounds": [3, 2], "metrics": [None, ["distance"]]}, "setting": {"clients": 2}, "parts": 2},
        {
            "within": {"local_steps": [None, 1, 2]},
            "tune": {"lr": ["0.01", 0.1, "1/L"]},
            "seeds": [3, 2**63 - 1],
            "parts": 2,
        },
    ],
)
def test_no_run_is_lost(tmp_path, change):
    document = GOOD | {"tune": {"lr": [0.01]}, "algorithms": {"fedavg": {}}} | change
    axes = [*document.get("grid", {}), *document.get("within", {})]
    caption = {"caption": "All."}
    panel = {"panel": axes[0]} if axes else {}
    if len(axes) < 2:
        document["figures"] = {"tuned": {"kind": "sensitivity", "x": "lr", **panel, **caption}}
        if axes:
            document["figures"]["best"] = {"kind": "scaling", "x": axes[0], **caption}
            document["figures"]["all"] = {"kind": "table", "x": axes[0], **caption}
    experiment = load(tmp_path, document)
    validate(experiment)
    run_experiment(experiment, expansion.cells(experiment), tmp_path)


def _keys(path):
    """Keys of the runs in a run file."""
    meta = RunMeta.from_dict(result_files.read_meta(path))
    return {item.key for item in runs(meta.spec, meta.searches)}


@pytest.mark.parametrize(
    "before, after",
    [
        ({"tune": {"lr": [0.01, 0.05]}}, {"tune": {"lr": [0.01, "1/L", 0.05]}}),
        ({"tune": {"lr": ["1/L", 0.01]}}, {"tune": {"lr": [0.01]}}),
        ({"within": {"batch": [1, 2]}}, {"within": {"batch": [None, 2, 1]}}),
        ({"within": {"batch": [None]}}, {"within": {"batch": [None, 1]}}),
    ],
)
def test_runs_are_kept_where_values_of_another_kind_are_added(tmp_path, counted, before, after):  # noqa: F811
    out, fresh = tmp_path / "a.parquet", tmp_path / "b.parquet"
    first, second = dataclasses.replace(SPEC, **before), dataclasses.replace(SPEC, **after)
    run.run_cell(first, out)
    counted.clear()
    keys = _keys(out)
    run.run_cell(second, out)
    assert len(counted) == len(_keys(out) - keys)
    run.run_cell(second, fresh)
    extended, whole_file = (result_files.read(path)[0].drop(columns="seconds") for path in (out, fresh))
    pd.testing.assert_frame_equal(extended, whole_file)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"within": {"problem.L": [5.0]}}, "within: the runs of a file share their problem; move 'problem.L' to grid"),
        ({"grid": {"batch": [1]}, "within": {"batch": [2]}}, "within: 'batch' would undo 'batch' of grid"),
        ({"within": {"local_steps": [1]}, "tune": {"local_steps": [2]}}, "'local_steps' would undo 'local_steps' of w"),
        ({"grid": {"parameters.lr": [1]}, "tune": {"lr": [2]}}, "tune: 'lr' would undo 'parameters.lr' of grid"),
        (
            {"grid": {"participation.p": [1]}, "within": {"participation": ["full"]}},
            "'participation' would undo 'participation.p'",
        ),
        (
            {"grid": {"participation": [{"p": 1}], "participation.p": [1]}},
            "'participation.p' lies inside 'participatio",
        ),
        ({"grid": {"steps": [4]}}, "grid: 'steps' cannot be an axis, because results have a column of that name"),
    ],
)
def test_axes_that_undo_each_other_are_refused(tmp_path, change, message):
    with pytest.raises(UserError) as caught:
        expansion.cells(load(tmp_path, GOOD | change))
    assert message in str(caught.value)


@pytest.mark.parametrize("seeds", [[2**63], [0, 2**64], [-1]])
@pytest.mark.parametrize("per_entry", [False, True])
def test_seeds_that_no_column_holds_are_refused(tmp_path, seeds, per_entry):
    change = {"algorithms": {"fedavg": {"set": {"lr": 0.1}, "seeds": seeds}}} if per_entry else {"seeds": seeds}
    with pytest.raises(UserError, match="whole number between 0 and 9223372036854775807"):
        load(tmp_path, GOOD | change)
    with pytest.raises(UserError, match="whole number between 0 and 9223372036854775807"):
        train("fedavg", GOOD["problem"], seed=seeds[-1], clients=2, rounds=1, lr=0.1)


@pytest.mark.parametrize("key", ["7", "null", "1.5", "true", "2001-02-03", "[a]"])
def test_keys_that_are_no_text_are_refused_wherever_they_stand(tmp_path, key):
    path = tmp_path / "a.yaml"
    path.write_text(f"grid:\n  participation:\n    - {{kind: stationary}}\n    - kind: x\n      {key}: 1\n")
    with pytest.raises(UserError, match=r"line 5: .*the key .* is not text|line 5: .*reads as a timestamp"):
        experiment_file.read_yaml(path)


SCALING = {"kind": "scaling", "x": "participation", "reference": "linear", "where": {"clients": 2}, "caption": "All."}


def test_what_needs_numbers_says_so_before_any_job(tmp_path):
    axes = {"grid": {"participation": ["full", {"kind": "uniform", "count": 1}], "clients": [2, 4]}}
    with pytest.raises(UserError, match="values of participation must be numbers"):
        validate(load(tmp_path, GOOD | axes | {"figures": {"one": SCALING}}))


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
