"""Trials: quasi-random points of a search space, which grows while the best one lies near its border."""

import dataclasses
import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedatlas import UserError
from fedatlas.api.train import train
from fedatlas.experiments import expansion, run
from fedatlas.experiments import result_files as files
from fedatlas.experiments.cells import CellSpec, Select
from fedatlas.experiments.runs import RunMeta, initial_searches, tuned_points
from fedatlas.experiments.tables import build
from fedatlas.experiments.tuning.trials import draw, grow
from fedatlas.experiments.values import evaluate_formula, formula_constants, resolve_formulas
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.problems import create
from fedatlas.registry.options import Option
from tests.experiments.test_config import GOOD, load

ANY = Option("x", float, 0.1, doc="any positive number", above=0)


WHOLE = Option("x", int, 1, doc="a whole number", low=1)


SHARE = Option("x", float, 0.1, doc="a probability", above=0, high=1)


KNOWN = {"a": ANY, "b": ANY, "n": WHOLE, "p": SHARE}


SELECT = Select(metric="loss", statistic="final", goal="min", seeds=[7], extend=2)


positive = st.floats(1e-6, 1e6, allow_subnormal=False)


def spec(space, count=8, **change):
    tune = draw(space, dict.fromkeys(space, ANY), count)
    fields = {
        "algorithm": "fedavg",
        "parameters": {},
        "problem": {"kind": "quadratic", "dim": 4, "mu": 1.0, "L": 10.0, "heterogeneity": 1.0},
        "setting": {"clients": 3, "rounds": 12, "local_steps": 3, "batch": None},
        "tune": tune,
        "space": space,
        "seeds": [0, 1],
        "select": SELECT,
    }
    return CellSpec(**fields | change)


@given(st.integers(1, 30), st.integers(1, 30))
def test_a_longer_search_begins_with_the_shorter_one(few, extra):
    space = {"a": [0.01, 10.0], "b": ["0.1/L", "10/L"]}
    short, long = (draw(space, KNOWN, count) for count in (few, few + extra))
    assert all(long[name][:few] == short[name] for name in space)


def test_trials_of_formulas_are_multiples_of_them():
    ends = ["0.01/(L_max+lam)", "10/(L_max+lam)"]
    for value in draw({"a": ends}, KNOWN, 8)["a"]:
        assert formula_constants(value, "a") == ["L_max", "lam"]
        assert 0.005 <= evaluate_formula(value, "a") <= 5


@given(positive, st.floats(1.5, 1e4), st.sampled_from(["lowest", "highest"]), st.integers(1, 3))
def test_ranges_grow_by_half_their_first_length(low, ratio, which, times):
    first = ends = [low, low * ratio]
    for _ in range(times):
        ends, part = grow(first, ends, which, times)
        assert math.log(part[1] / part[0]) == pytest.approx(math.log(ratio) / 2, rel=0.05, abs=1e-3)
    assert grow(first, ends, which, times) is None
    assert grow(first, ends, {"lowest": "highest", "highest": "lowest"}[which], 1) is not None


def best_of(table, seeds):
    """The trial with the smallest mean final loss, computed run by run."""
    losses = {}
    for point in tuned_points(table):
        problem = {"kind": "quadratic", "dim": 4, "mu": 1.0, "L": 10.0, "heterogeneity": 1.0}
        frames = [train("fedavg", problem, seed=seed, clients=3, rounds=12, local_steps=3, batch=None, **point)
                  for seed in seeds]  # fmt: skip
        lost = any(frame.attrs["status"] == "diverged" for frame in frames)
        losses[tuple(point.items())] = math.inf if lost else statistics.mean(frame["loss"].iloc[-1] for frame in frames)
    return dict(min(losses, key=losses.get))


def test_a_cell_tunes_on_its_trials_and_scores_the_best(tmp_path):
    path = tmp_path / "fedavg/all.parquet"
    run.run_cell(spec({"lr": [0.001, 1.0], "server_lr": [0.3, 3.0]}), path)
    frame, plain = files.read(path)
    meta = RunMeta.from_dict(plain)
    (search,) = meta.searches
    assert search.chosen == best_of(search, [7])
    assert set(frame["seed"]) == {0, 1, 7}
    scored = frame[frame["seed"] != 7][["lr", "server_lr"]].drop_duplicates()
    assert scored.to_dict("records") == [search.chosen]
    table = build([], SELECT, [path]).table
    assert len(table) == len(tuned_points(search)) and table["chosen"].sum() == 1


def test_the_space_grows_to_the_side_of_the_best_until_the_limit(tmp_path):
    path = tmp_path / "fedavg/all.parquet"
    run.run_cell(spec({"lr": [1e-7, 1e-6]}), path)
    (search,) = RunMeta.from_dict(files.read_meta(path)).searches
    assert grow([1e-7, 1e-6], search.space["lr"], "highest", SELECT.extend) is None
    assert len(search.axes["lr"]) == 8 + 2 * 4
    assert search.chosen["lr"] == max(search.axes["lr"]) > 5e-6
    table = build([], SELECT, [path]).table
    assert table.loc[table["chosen"], "edge"].tolist() == ["lr near its highest value"]


def test_an_interrupted_search_ends_with_the_same_bits(tmp_path, monkeypatch):
    reference, cut = tmp_path / "whole.parquet", tmp_path / "cut.parquet"
    cell = spec({"lr": ["0.00001/L", "0.001/L"], "server_lr": [0.3, 3.0]})
    run.run_cell(cell, reference)

    def stop(done, total):
        if done >= 9:
            raise KeyboardInterrupt

    monkeypatch.setattr(run, "SAVE_SECONDS", 0)
    with pytest.raises(KeyboardInterrupt):
        run.run_cell(cell, cut, progress=stop)
    run.run_cell(cell, cut)
    rows = [files.read(path)[0].drop(columns="seconds") for path in (reference, cut)]
    assert rows[0].equals(rows[1])


QUADRATIC = {"problem": {"kind": "quadratic", "dim": 3, "L": 10.0, "similarity": 0.5}, "trials": 6}


RANGE = {"lr": ["0.01/L", "10/L"]}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"search": {"lr": [1, 0.1]}}, "search.lr is [1, 0.1]; its ends must be positive, and the first one"),
        ({"search": {"lr": [0.1]}}, "search.lr is [0.1]; it must be a list of a low and a high end"),
        ({"search": {"lr": "19"}}, "search.lr is '19'; it must be a list of a low and a high end"),
        ({"search": {"lr": ["1/L", 10]}}, "its ends must name the same constants"),
        ({"search": {"lr": ["x y", 10]}}, "(range is 'x y'; it must be a number or a formula"),
        ({"search": {"lrr": [1, 2]}}, "algorithm fedavg has no option 'lrr'; did you mean 'lr'?"),
        ({"tune": {"lr": [0.1, 0.2]}}, "algorithms.fedavg: trials take the place of tune"),
    ],
)
def test_mistakes_in_ranges_name_the_range(tmp_path, entry, message):
    with pytest.raises(UserError) as error:
        expansion.cells(load(tmp_path, GOOD | QUADRATIC | {"algorithms": {"fedavg": entry}}))
    assert message in str(error.value)


def test_trials_that_cannot_be_run_are_left_out(tmp_path):
    cell = spec({"lam": [1e-4, 10.0]}, count=1)
    unlike = {**cell.problem, "similarity": 4.0}  # small weights leave a client without a minimiser
    tune = {"lam": [1e-4, 0.01, 5.0, 10.0]}
    cell = dataclasses.replace(cell, algorithm="dane", tune=tune, space={"lam": [1e-4, 10.0]}, problem=unlike)
    path = tmp_path / "dane/all.parquet"
    run.run_cell(cell, path)
    (search,) = RunMeta.from_dict(files.read_meta(path)).searches
    assert search.axes["lam"][:2] == [5.0, 10.0]
    with pytest.raises(UserError, match="no trial of its search space can be run"):
        run.run_cell(dataclasses.replace(cell, tune={"lam": [1e-4, 0.01]}), tmp_path / "none.parquet")


def test_formulas_may_name_other_hyper_parameters():
    options, problem = ALGORITHMS.get("feddyn").options(), create({"kind": "quadratic", "dim": 2, "L": 3.0}, 2)
    assert resolve_formulas({"lr": "1/(L+alpha)", "alpha": "2*L"}, options, problem) == {"lr": 1 / 9, "alpha": 6.0}
    assert resolve_formulas({"lr": "min(1,max(L,alpha))/4", "alpha": 0.5}, options, problem)["lr"] == 0.25
    with pytest.raises(UserError, match="depends on itself"):
        resolve_formulas({"lr": "1/alpha", "alpha": "1/lr"}, options, problem)
    with pytest.raises(UserError, match="no constant 'beta'"):
        resolve_formulas({"lr": "1/beta", "alpha": 1.0}, options, problem)


def test_a_thousand_trials_in_a_thousand_parts_are_those_that_hold_a_point(tmp_path):
    change = {"trials": 1000, "parts": 1000, "within": {"batch": [1, 2]}, "algorithms": {"fedavg": {"search": RANGE}}}
    cells = expansion.expand(load(tmp_path, GOOD | QUADRATIC | change)).cells
    assert 1 <= len(cells) <= 2 and len(cells[0].spec.tune["lr"]) == 1000
    assert sum(len(initial_searches(cell.spec)) for cell in cells) == 2
