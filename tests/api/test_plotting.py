"""Plots of runs."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import fedatlas
from fedatlas import UserError
from fedatlas.results.figures.style import STYLES

PROBLEM = {"kind": "quadratic", "dim": 4, "similarity": 0.1, "noise": 0.1}


def train(name, seed=0, **options):
    return fedatlas.train(name, PROBLEM, clients=3, rounds=6, **{"lr": "1/L"} | options, seed=seed)


@pytest.fixture(scope="module")
def runs():
    return {(name, seed): train(name, seed) for name in ("fedavg", "scaffold") for seed in (0, 1)}


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_one_frame(runs):
    ax = fedatlas.plot(runs["fedavg", 0], x="gradients", y="loss")
    (line,) = ax.get_lines()
    np.testing.assert_allclose(line.get_ydata(), runs["fedavg", 0]["loss"])
    np.testing.assert_allclose(line.get_xdata(), runs["fedavg", 0]["gradients"])
    assert line.get_color() == STYLES["fedavg"].colour
    assert (ax.get_xlabel(), legend(ax)) == ("gradients per active client", ["FedAvg"])


def test_labels_and_seeds(runs):
    groups = {"mine": [runs["fedavg", 0], runs["fedavg", 1]], "theirs": runs["scaffold", 0]}
    ax = fedatlas.plot(groups)
    assert legend(ax) == ["mine", "theirs"] and ax.get_yscale() == "log" and len(ax.collections) == 1
    mean = (runs["fedavg", 0]["suboptimality"] + runs["fedavg", 1]["suboptimality"]) / 2
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), mean)


def test_variants_of_one_algorithm_differ(runs):
    first, second = fedatlas.plot([runs["fedavg", 0], runs["fedavg", 1]]).get_lines()
    assert first.get_color() != second.get_color()


def test_in_given_axes(runs):
    ax = Figure().subplots()
    assert fedatlas.plot(runs["fedavg", 0], ax=ax) is ax and len(ax.get_lines()) == 1


def test_curves_of_results(inside):
    curves = fedatlas.load_results().curves
    ax = fedatlas.plot(curves[(curves["local_steps"] == 2) & (curves["clients"] == 3)], x="steps")
    assert legend(ax) == ["fedac", "FedAvg"]
    assert ax.get_lines()[0].get_color() == STYLES["fedac-1"].colour
    with pytest.raises(UserError, match="the curves have several values of local_steps, clients; keep one of each"):
        fedatlas.plot(curves)
    with pytest.raises(UserError, match="the curves have several values of local_steps; keep"):
        fedatlas.plot(curves[curves["clients"] == 3])


def test_a_run_that_diverged_has_a_cross(runs):
    ax = fedatlas.plot([runs["fedavg", 0], train("fedavg", lr=1e80)])
    assert legend(ax)[-1] == "diverged" and ax.get_lines()[-1].get_marker() == "x"


@pytest.mark.parametrize(
    "frames, options, message",
    [
        (5, {}, "frames is 5; it must be"),
        ("fedavg", {}, "frames is 'fedavg'; it must be"),
        ([], {}, "there is no frame to plot"),
        (pd.DataFrame({"algorithm": [], "round": []}), {}, "the frame has no rows"),
        ({"a": 5}, {}, "a is not a DataFrame"),
        ([pd.DataFrame({"x": [1]})], {}, "is not a DataFrame that fedatlas.train returned"),
        (pd.DataFrame({"algorithm": ["a"]}), {}, "no column 'seed'"),
        (None, {"x": "round"}, "x is 'round'; it must be a cost; did you mean 'rounds'"),
        (None, {"y": "losss"}, "not all frames have the metric 'losss'; did you mean 'loss'"),
    ],
)
def test_what_is_refused(runs, frames, options, message):
    with pytest.raises(UserError, match=message):
        fedatlas.plot(runs["fedavg", 0] if frames is None else frames, **options)


def test_a_users_settings_of_matplotlib_stay(runs):
    import matplotlib

    before = dict(matplotlib.rcParams)
    fedatlas.plot(runs["fedavg", 0])
    assert dict(matplotlib.rcParams) == before
