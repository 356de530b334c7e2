"""Plots of runs."""

import numpy as np
import pandas as pd
import pytest

import fedatlas
from fedatlas import UserError
from fedatlas.results.figures.description import STYLES

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


def test_curves_of_results(inside):
    curves = fedatlas.load_results().curves
    ax = fedatlas.plot(curves[(curves["local_steps"] == 2) & (curves["clients"] == 3)], x="steps")
    assert legend(ax) == ["fedac", "FedAvg"]
    assert ax.get_lines()[0].get_color() == STYLES["fedac-1"].colour
    assert "FedAvg, $K$ = 2, $M$ = 3" in legend(fedatlas.plot(curves))


def test_a_tuned_value_is_no_axis():
    points = pd.DataFrame(
        {"algorithm": "fedavg", "clients": [1, 1, 2, 2], "K": [1, 2, 1, 2], "lr": [0.1, 0.2, 0.3, 0.4]}
    )
    curves = points.assign(seed=0, round=1, loss=1.0, status="ok")
    assert legend(fedatlas.plot(curves, x="clients")) == ["fedavg, $K$ = 1", "fedavg, $K$ = 2"]
    assert legend(fedatlas.plot(curves[curves["K"] == 1]))[0] == "fedavg, $M$ = 1"
    with pytest.raises(UserError, match="x is 'K', whose values are not numbers"):
        fedatlas.plot(curves.assign(K=["a", "b"] * 2), x="K")


@pytest.mark.parametrize(
    "frames, options, message",
    [
        ("fedavg", {}, "'f' is not a DataFrame that fedatlas.train returned"),
        ([pd.DataFrame({"x": [1]})], {}, "is not a DataFrame that fedatlas.train returned"),
        (pd.DataFrame({"algorithm": ["a"]}), {}, "no column 'seed'"),
        (None, {"x": "gradient"}, "x is 'gradient'; it must be a cost; did you mean 'gradients'"),
        (None, {"y": "losss"}, "the frames have no metric 'losss'; did you mean 'loss'"),
    ],
)
def test_what_is_refused(runs, frames, options, message):
    with pytest.raises(UserError, match=message):
        fedatlas.plot(runs["fedavg", 0] if frames is None else frames, **options)
