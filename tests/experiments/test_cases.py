"""Cases: named problems and settings, of which each algorithm runs those for which it is defined."""

import pytest

from fedatlas import UserError
from fedatlas.experiments import expansion
from fedatlas.experiments.view import ExperimentView
from tests.experiments.test_config import GOOD, load

CASES = {
    "plain": None,
    "long": {"label": "Many local steps", "setting": {"local_steps": 7}, "optimum": True},
    "partial": {"problem": {"dim": 4}, "setting": {"clients": 4, "participation": {"kind": "uniform", "count": 2}}},
    "other": {"problem": {"kind": "piecewise", "kappa": 9.0, "steps": 6}},
}
ALGORITHMS = {"fedavg": {"set": {"lr": 0.01}}, "fedpd": {"set": {"lr": 0.01, "eta": 1.0}}}


@pytest.fixture
def experiment(tmp_path):
    return load(tmp_path, GOOD | {"cases": {k: v for k, v in CASES.items() if k != "other"}, "algorithms": ALGORITHMS})


def test_a_case_is_laid_over_problem_and_setting(experiment):
    spec_of = {cell.key: cell.spec for cell in expansion.cells(experiment) if cell.id == "fedavg"}
    assert list(spec_of) == ["case=long", "case=partial", "case=plain"]  # the test's YAML is sorted
    assert spec_of["case=plain"].setting == {"clients": 2, "rounds": 3} and not spec_of["case=plain"].optimum
    assert spec_of["case=long"].setting == {"clients": 2, "rounds": 3, "local_steps": 7}
    assert spec_of["case=long"].optimum and spec_of["case=long"].problem == GOOD["problem"]
    assert spec_of["case=partial"].problem == GOOD["problem"] | {"dim": 4}
    assert [spec.axis_value("case") for spec in spec_of.values()] == ["long", "partial", "plain"]


def test_null_removes_an_axis_that_has_the_name_of_the_cases(tmp_path):
    content = GOOD | {"cases": {"plain": None}, "grid": {"case": None, "seeds": None}, "algorithms": ALGORITHMS}
    assert load(tmp_path, content).grid == {"case": ["plain"]}


def test_an_algorithm_has_no_runs_where_it_is_not_defined(experiment):
    result = expansion.expand(experiment)
    assert [cell.key for cell in result.cells if cell.id == "fedpd"] == ["case=long", "case=plain"]
    assert set(result.undefined) == {"fedpd"}
    assert "is defined for full participation only" in result.undefined["fedpd"]["partial"]
    view = expansion.create_view(experiment, result.undefined)
    assert view.cases == {"plain": "plain", "long": "Many local steps", "partial": "partial"}
    assert ExperimentView.from_dict(view.to_dict()) == view


def test_an_entry_says_for_which_kinds_of_problem_it_is_not_defined(tmp_path):
    entry = ALGORITHMS["fedavg"] | {"undefined": {"piecewise": "there are no clients in it"}}
    change = {"cases": CASES, "algorithms": ALGORITHMS | {"fedavg": entry}}
    result = expansion.expand(load(tmp_path, GOOD | change))
    assert result.undefined["fedavg"] == {"other": "there are no clients in it"}
    entry["undefined"] = {"quadratik": "a reason"}
    with pytest.raises(UserError, match="unknown problem 'quadratik'; did you mean 'quadratic'"):
        expansion.cells(load(tmp_path, GOOD | change))


def test_what_follows_from_a_case_and_does_not_fit_is_not_defined(tmp_path):
    cases = {
        "convex": None,
        "other": {"problem": {"kind": "similar", "dim": 12, "convexity": "non-convex", "similarity": 1.0}},
    }
    change = {"cases": cases, "algorithms": {"fedavg": {}, "agd": {}, "dane": {}}, "trials": 3}
    change["problem"] = {"kind": "quadratic", "dim": 3, "similarity": 0.5}
    tuned = expansion.expand(load(tmp_path, GOOD | change)).undefined
    assert tuned.keys() == {"agd", "dane"}
    assert "mu is -" in tuned["agd"]["other"] and "no exact proximal step" in tuned["dane"]["other"]


def test_an_algorithm_must_be_defined_for_a_case(tmp_path):
    with pytest.raises(UserError, match=r"algorithms\.fedpd: it is not defined for any case; case partial: "):
        expansion.cells(load(tmp_path, GOOD | {"cases": {"partial": CASES["partial"]}, "algorithms": ALGORITHMS}))


def test_a_new_case_changes_no_other_cell(tmp_path, experiment):
    larger = load(tmp_path, GOOD | {"cases": CASES, "algorithms": ALGORITHMS})
    assert expansion.cells(experiment) == [cell for cell in expansion.cells(larger) if cell.key != "case=other"]


def test_experiments_without_cases_have_the_same_specifications(tmp_path):
    assert "case" not in expansion.cells(load(tmp_path, GOOD))[0].spec.to_dict()


@pytest.mark.parametrize(
    "change, message",
    [
        ({"cases": {"a b": {}}}, "cases: the name 'a b' must consist of letters"),
        ({"cases": {"one": {"seting": {}}}}, "cases.one has no option 'seting'; did you mean 'setting'?"),
        ({"cases": {"one": {"setting": {"round": 3}}}}, "cases.one.setting has no option 'round'"),
        ({"cases": {"one": {"problem": {"dims": 3}}}}, "has no option 'dims'"),
        ({"cases": {"one": {}}, "grid": {"case": ["one"]}}, "grid: 'case' is the axis of the cases"),
        ({"cases": {"one": 3}}, "cases.one is 3; it must be a mapping"),
    ],
)
def test_mistakes_name_the_case(tmp_path, change, message):
    with pytest.raises(UserError) as error:
        expansion.cells(load(tmp_path, GOOD | change))
    assert message in str(error.value)
