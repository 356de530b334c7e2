"""Axes of all kinds of value: columns hold them without loss, and every result finds them again."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedatlas import UserError, train
from fedatlas.experiments import axis_values, expansion, experiment_file, result_files, run
from fedatlas.experiments.axis_values import column, equal, parse
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.metadata import RunMeta
from fedatlas.experiments.runs import runs
from fedatlas.experiments.selection import contains_value
from fedatlas.workflow.validation import validate
from tests.experiments.test_config import GOOD, load
from tests.experiments.test_run import SPEC, counted  # noqa: F401
from tests.experiments.whole import run_experiment

WORDS = st.text(max_size=5) | st.sampled_from(
    ["null", "true", "0.5", "1e-3", '"a"', "[1]", '{"kind": "full"}', "NaN", "-Infinity", "1/L", " 1", "[x", "=1"]
)
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.none() | st.booleans() | NUMBERS | WORDS
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


def distinct(values):
    """Lists of different values, of numbers alone or of all kinds."""
    return st.lists(values, min_size=1, max_size=6).map(
        lambda sample: [
            value for index, value in enumerate(sample) if not any(value == other for other in sample[:index])
        ]
    )


@settings(max_examples=100)
@given(distinct(VALUES) | distinct(NUMBERS) | distinct(WORDS) | distinct(st.booleans()))
def test_a_column_holds_every_value(tmp_path_factory, values):
    cell, path = column(values), tmp_path_factory.getbasetemp() / "column.parquet"
    result_files.write(path, [{"axis": cell(value)} for value in values], {})
    cells = result_files.read(path)[0]["axis"]
    assert len(set(cells)) == len(values) and [row["axis"] for row in result_files.read_rows(path)[0]] == cells.tolist()
    for value, text in zip(values, cells.tolist(), strict=True):
        assert equal(parse(text), value)
        assert contains_value(cells, [value] if isinstance(value, list) else value).sum() >= 1
        assert [equal(value, other) for other in map(parse, cells)].count(True) == 1


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
    result = list(map(column(values), values))
    assert json.dumps(result) == json.dumps(cells)


@pytest.mark.parametrize(
    "choice, expected",
    [(0.5, [0]), ([0.2, 0.5], [1]), ([0.5, "labels"], [0, 2]), (True, [3]), (1, [4]), ([[0.2, 0.5], None], [1, 5])],
)
def test_a_list_is_a_choice_unless_it_is_a_value(choice, expected):
    values = [0.5, [0.2, 0.5], "labels", True, 1, None]
    assert [index for index, keep in enumerate(axis_values.matches(values, choice)) if keep] == expected
    cells = pd.Series([*map(column(values), values), None])  # of an algorithm that does not tune it
    assert np.flatnonzero(contains_value(cells, choice)).tolist() == expected


P = {"setting": {"clients": 2, "rounds": 2, "participation": {"kind": "stationary", "p": 0.5}}}
TWO = {
    "fedavg": {"tune": {"lr": [0.01]}},
    "two": {"algorithm": "fedavg", "tune": {"lr": ["1/L", 0.01], "server_lr": [1]}},
}


SLOPES = {
    "speedup": {"kind": "exponent", "algorithms": ["fedavg"], "axis": "problem.noise", "at_least": 0},
    "choice": {
        "kind": "exponent",
        "quantity": "choice",
        "algorithms": ["fedavg"],
        "axis": "problem.noise",
        "parameter": "lr",
        "at_least": 0,
    },
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


def test_an_axis_inside_another_has_its_own_values_in_each_run():
    outer = {"kind": "stationary", "p": [0.1, 1]}
    spec = dataclasses.replace(SPEC, within={"participation": [outer], "participation.p.0": [0.2, 0.8]}, seeds=[0])
    result = [item.setting["participation"]["p"] for item in runs(spec)]
    assert result == [[0.2, 1]] * 4 + [[0.8, 1]] * 4
    assert spec.within["participation"] == [{"kind": "stationary", "p": [0.1, 1]}]


def test_an_axis_inside_a_hyper_parameter_has_its_own_values_in_each_run():
    spec = dataclasses.replace(SPEC, parameters={"lr": {"a": [1, 2]}}, within={"parameters.lr.a.1": [3, 4]}, tune={})
    first, *_, last = runs(dataclasses.replace(spec, seeds=[0], select=None))
    assert (first.parameters, last.parameters) == ({"lr": {"a": [1, 3]}}, {"lr": {"a": [1, 4]}})


def test_an_axis_inside_an_option_of_an_algorithm_leaves_the_experiment_as_it_is(tmp_path):
    participation = {"kind": "stationary", "p": [0.1, 1]}
    entry = {"set": {"lr": 0.1}, "setting": {"participation": participation}}
    document = {**GOOD, "algorithms": {"fedavg": entry}, "grid": {"participation.p.0": [0.2, 0.8]}}
    experiment = load(tmp_path, document)
    cells = expansion.cells(experiment)
    assert [cell.spec.setting["participation"]["p"] for cell in cells] == [[0.2, 1], [0.8, 1]]
    assert experiment.algorithms["fedavg"].setting == {"participation": participation}


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
    with pytest.raises(UserError, match=r"line 5: .*the key .* is no text|line 5: .*reads as a timestamp"):
        experiment_file.read_yaml(path)


@pytest.mark.parametrize("value", ["2001-02-03", "2001-02-03 04:05:06", "!!binary aGk=", "!!set {a: null}"])
def test_values_that_are_no_json_are_refused(tmp_path, value):
    path = tmp_path / "a.yaml"
    path.write_text(f"where:\n  - {{a: {value}}}\n")
    with pytest.raises(UserError, match=r"which YAML reads as a .*: quote it"):
        experiment_file.read_yaml(path)


SCALING = {"kind": "scaling", "x": "participation", "reference": "linear", "where": {"clients": 2}, "caption": "All."}
DROP = {"kind": "drop", "algorithms": ["fedavg"], "axis": "participation", "at_least": 0}


@pytest.mark.parametrize(
    "change",
    [{"figures": {"one": SCALING}}, {"claims": {"one": {"text": "It is.", "source": "none", "check": DROP}}}],
    ids=["figure", "claim"],
)
def test_what_needs_numbers_says_so_before_any_job(tmp_path, change):
    axes = {"grid": {"participation": ["full", {"kind": "uniform", "count": 1}], "clients": [2, 4]}}
    with pytest.raises(UserError, match="values of participation must be numbers"):
        validate(load(tmp_path, GOOD | axes | change))


def test_numbers_of_numpy_are_numbers(tmp_path, counted):  # noqa: F811
    plain = {"clients": 3, "rounds": 2, "local_steps": 2, "batch": 2, "lr": 0.1, "seed": 1, "threads": 1}
    plain |= {"participation": {"kind": "stationary", "p": [0.5, 1.0, 0.5]}}
    ours = {key: np.int64(value) if isinstance(value, int) else value for key, value in plain.items()}
    ours |= {"lr": np.float64(0.1), "participation": {"kind": "stationary", "p": np.array([0.5, 1.0, 0.5])}}
    first, second = (train("fedavg", GOOD["problem"], **options) for options in (plain, ours))
    pd.testing.assert_frame_equal(first.drop(columns="seconds"), second.drop(columns="seconds"))
    assert json.dumps(first.attrs["spec"]) == json.dumps(second.attrs["spec"])
    spec = CellSpec(
        "fedavg",
        {},
        {"kind": "quadratic", "dim": np.int64(4), "L": 10.0, "heterogeneity": np.float64(1.0), "start_scale": 0.0},
        {"clients": np.int32(3), "rounds": 4, "batch": None},
        {"local_steps": np.array([1, 2])},
        {"lr": [np.float64(0.01), 0.05]},
        list(np.arange(2)),
        select=SPEC.select,
    )
    run.run_cell(spec, tmp_path / "a.parquet")
    run.run_cell(SPEC, tmp_path / "a.parquet")
    assert spec == SPEC and len(counted) == 12
