"""Mistakes in figures and claims that are found before any job runs."""

import re
from pathlib import Path

import pytest

from fedatlas.data.sources import info
from fedatlas.errors import UserError
from fedatlas.experiments import expansion, experiment_file
from fedatlas.workflow.configuration import validate
from tests.synthetic import experiment

ROOT = Path(__file__).parents[2]
SCALING = {"kind": "scaling", "caption": "c", "x": "clients", "panel": "local_steps"}
CONVERGENCE = {"kind": "convergence", "caption": "c", "x": "rounds", "panel": "local_steps", "where": {"clients": 4}}
BETTER = {"kind": "better", "algorithm": "fedac-1", "than": ["fedavg"]}


def without(mapping, key):
    return {k: v for k, v in mapping.items() if k != key}


FILES = sorted((ROOT / "config/experiments").glob("*.yaml"))
LARGE = [path for path in FILES if path.stem == "landscape"]  # whose paper size has many thousand runs


@pytest.mark.parametrize(
    ("path", "left_out"),
    [(path, ("paper",) if path in LARGE else ()) for path in FILES]
    + [pytest.param(path, ("smoke", "laptop"), marks=pytest.mark.slow) for path in LARGE],
    ids=lambda value: getattr(value, "stem", None),
)
def test_experiments_of_the_atlas_are_right(path, left_out):
    for size in experiment_file.document(path)["sizes"].keys() - {*left_out}:
        experiment = experiment_file.load(path, size)
        cells = expansion.cells(experiment)
        assert len({(cell.id, cell.key) for cell in cells}) == len(cells) > 0
        validate(experiment, cells)
        if size == "smoke" and "data" in experiment.problem:  # which needs no download
            assert info(experiment.problem["data"]).embedded


PROFILE = {"kind": "performance_profile", "caption": "c", "x": "gradients", "panel": "local_steps"}


def test_figures_over_problems():
    validate(experiment(figures={"it": PROFILE}))
    for wrong, output in (
        ({**PROFILE, "x": "gradient"}, "x: unknown cost 'gradient'; did you mean 'gradients'"),
        ({**PROFILE, "where": {"clients": 5}}, "where.clients: no run has the value 5"),
        ({**PROFILE, "algorithms": ["mime"]}, "algorithms: unknown algorithm of the experiment"),
    ):
        with pytest.raises(UserError, match=rf"figures\.it: {re.escape(output)}"):
            validate(experiment(figures={"it": wrong}))


@pytest.mark.parametrize(
    ("figure", "message"),
    [
        ({**SCALING, "x": "client"}, "x: unknown axis or tuned hyper-parameter 'client'; did you mean 'clients'"),
        ({**SCALING, "panel": "K"}, "panel: unknown axis of grid or within 'K'"),
        ({**SCALING, "where": {"lr": 1}}, "where: 'lr' is not an axis"),
        ({**SCALING, "where": {"clients": 5}}, "where.clients: no run has the value 5"),
        (
            {**SCALING, "algorithms": ["fedac"]},
            "algorithms: unknown algorithm of the experiment 'fedac'; did you mean",
        ),
        (without(SCALING, "panel"), "where: local_steps has 2 values"),
        ({**CONVERGENCE, "x": "round"}, "x: unknown cost 'round'; did you mean 'rounds'"),
        ({**CONVERGENCE, "where": {}}, "where: clients has 3 values"),
        ({**CONVERGENCE, "where": {"clients": [4, 16]}}, "where: clients has 2 values"),
        ({"kind": "partition", "caption": "c"}, "no partition to draw"),
        ({"kind": "bound", "caption": "c", "theorems": [55]}, "theorems: unknown theorem '55'"),
        (without(SCALING, "caption"), "it must be a mapping with a kind, a caption and options"),
        ({**SCALING, "caption": 3}, "it must be a mapping with a kind, a caption and options"),
        ("scaling", "figures.it is 'scaling'; it must be a mapping with"),
    ],
)
def test_wrong_figures(figure, message):
    with pytest.raises(UserError, match=r"made_up\.yaml \(size smoke\): figures\.it") as error:
        validate(experiment(figures={"it": figure}))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


SPEEDUP = {"kind": "exponent", "algorithms": ["fedavg"], "axis": "clients"}


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ({**BETTER, "than": ["fedavgg"]}, "than: unknown algorithm of the experiment 'fedavgg'; did you mean 'fedavg'"),
        ({**BETTER, "algorithm": "scaffold"}, "algorithm: unknown algorithm of the experiment 'scaffold'"),
        ({**BETTER, "where": {"client": 4}}, "where: 'client' is not an axis of grid or within; did you mean 'clie"),
        (SPEEDUP, "check exponent needs at_least, at_most or theorem"),
        ({**SPEEDUP, "axis": "lr", "at_least": 1}, "axis: unknown axis of numbers 'lr'"),
    ],
)
def test_wrong_claims(check, message):
    with pytest.raises(UserError, match=r"made_up\.yaml \(size smoke\): claims\.it: ") as error:
        validate(experiment(claims={"it": {"text": "t", "source": "s", "check": check}}))
    assert message in str(error.value)


QUADRATIC = {
    "problem": {"kind": "quadratic", "dim": 2},
    "setting": {"clients": 2, "rounds": 4, "eval_rounds": 1},
    "algorithms": {
        "it": {"algorithm": "fedawe", "set": {"lr": 0.1}, "tune": {"lr": None}},
        "tuned": {"algorithm": "fedawe"},
    },
    "grid": {},
}
STATEMENT = {"kind": "below", "algorithms": ["it"], "theorem": "lemma-1"}
COSTS = {
    "kind": "exponent",
    "algorithms": ["it"],
    "shares": [0.5],
    "at_least": 0,
    "against": "L/mu",
}


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (STATEMENT, None),
        ({**STATEMENT, "algorithms": ["tuned"]}, "theory: fedawe is tuned; give one value to each hyper-parameter"),
        ({"kind": "below", "algorithms": ["it"], "theorem": "4.4"}, "Theorem 4.4 is about fedspeed-z, not fedawe"),
        ({"kind": "below", "algorithms": ["it"], "theorem": "3(a)"}, "Theorem 3(a) is about fedsps, not fedawe"),
        (COSTS, None),
        ({**COSTS, "against": "L/nothing"}, "this problem has no constant 'nothing'"),
        ({**COSTS, "against": "L/"}, "against is 'L/'; it must be a number or a formula"),
        ({**COSTS, "against": "1/0"}, "against is '1/0', which has no finite value"),
    ],
)
def test_theory_that_is_not_about_the_runs(check, message):
    result = experiment(**QUADRATIC, claims={"it": {"text": "t", "source": "s", "check": check}})
    if message is None:
        return validate(result)
    with pytest.raises(UserError, match=r"made_up\.yaml \(size smoke\): claims\.it: ") as error:
        validate(result)
    assert message in str(error.value)


def test_formulas_of_one_algorithm_make_the_column_of_all_text():
    slope = {"kind": "exponent", "algorithms": ["numbers"], "parameter": "lr", "axis": "clients"}
    result = {
        "problem": {"kind": "quadratic", "dim": 2},
        "setting": {"rounds": 2},
        "grid": {"clients": [2, 3]},
        "claims": {"it": {"text": "t", "source": "s", "check": {**slope, "at_least": 0}}},
    }
    numbers = {"algorithm": "fedavg", "tune": {"lr": [0.1, 0.2]}}
    validate(experiment({"numbers": numbers, "other": {"algorithm": "gd"}}, **result))
    with pytest.raises(UserError, match="parameter: unknown hyper-parameter tuned over numbers 'lr'"):
        validate(experiment({"numbers": numbers, "other": {"algorithm": "gd", "tune": {"lr": [0.1, "1/L"]}}}, **result))


def test_extremes_need_numbers():
    grid = {"participation": [{"kind": "full"}, {"kind": "uniform", "count": 2}]}
    check = {**BETTER, "where": {"participation": "max"}}
    with pytest.raises(UserError, match="max needs an axis of numbers"):
        validate(
            experiment(
                grid=grid,
                setting={"clients": 4, "steps": 64},
                claims={"it": {"text": "t", "source": "s", "check": check}},
            )
        )


def test_paper_must_be_in_the_bibliography():
    with pytest.raises(UserError, match=r"paper: references\.bib has no entry 'nobody1999'"):
        validate(experiment(paper="nobody1999"))
