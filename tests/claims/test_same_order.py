"""The check of whether the order of algorithms depends on budget, targets, costs and seeds."""

import math

import numpy as np
import pandas as pd
import pytest

from fedatlas.errors import UserError
from fedatlas.results.claims import build
from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED
from tests.synthetic import table

from .fixtures import judged, view

IDS = ("fedavg", "fedac-1", "mb-sgd")


def lines(factors=(1, 2, 4), late=(1, 2, 4), seeds=4):
    """Runs on six problems: a fast phase by ``factors`` to 0.05, then one by ``late``."""
    rng, at, rows = np.random.default_rng(0), np.arange(0, 401, 2), []
    for (id, factor, delay), clients in (
        (triple, c) for triple in zip(IDS, factors, late, strict=True) for c in range(1, 7)
    ):
        for seed in range(seeds):
            noise = math.exp(0.02 * rng.standard_normal())
            first = np.exp(-at * noise / (5 * factor))
            second = 0.05 * np.exp(-np.maximum(at - 60, 0) * noise / (10 * delay))
            part = pd.DataFrame({"algorithm": id, "clients": clients, "seed": seed, "round": at, "status": "ok"})
            rows.append(part.assign(suboptimality=np.where(at < 60, np.maximum(first, 0.05), second)))
    return pd.concat(rows, ignore_index=True)


SCORES = table([(id, clients, 0.5) for id in IDS for clients in range(1, 7)])


def verdict(frame=None, **options):
    options = {"kind": "same_order", "resamples": 200} | options
    frame = lines() if frame is None else frame
    result = judged(view(IDS, seeds=sorted(frame["seed"].unique())), SCORES, frame, **options)
    return result["verdict"], result["ours"], result["note"]


def test_an_order_that_stays():
    for options in ({"budget": 0.5}, {"harder": 3.0}, {"seeds": True}):
        result, ours, note = verdict(shares=[0.1, 0.01], at_least=0.9, **options)
        assert (result, note) == (HELD, "0 of 3 pairs of algorithms change places beyond noise.")
        assert ours.startswith("Kendall's correlation 1 ")
    assert verdict(seeds=True, at_least=0.9)[1].endswith("between the halves of the seeds")
    assert verdict(budget=0.5, at_least=0.9)[1].endswith("with 50 % of the rounds")


def test_an_order_that_turns_round():
    frame = lines(factors=(1, 2, 4), late=(4, 2, 1))
    result, ours, note = verdict(frame, shares=[0.01], harder=0.1, at_least=0.9)
    assert (result, note) == (NOT_HELD, "3 of 3 pairs of algorithms change places beyond noise.")
    assert ours == "Kendall's correlation -1 with targets 0.1 times as hard"
    assert verdict(frame, shares=[0.01], harder=0.1, at_most=0)[0] == HELD


def test_an_order_by_another_cost():
    frame = lines()
    frame["gradients"] = frame["round"] * 10.0
    assert verdict(frame, other="gradients", at_least=0.9)[:2] == (
        HELD,
        "Kendall's correlation 1 between the orders by communication rounds and by gradients per active client",
    )
    dear = {"fedavg": 100, "fedac-1": 10, "mb-sgd": 1}
    frame["gradients"] = frame["round"] * frame["algorithm"].map(dear)
    assert verdict(frame, other="gradients", at_least=0.9)[0] == NOT_HELD


def test_what_cannot_be_compared():
    assert verdict(lines(seeds=1), seeds=True, at_least=0.5)[0] == NOT_TESTED
    assert verdict(algorithms=["fedavg"], seeds=True, at_least=0.5)[0] == NOT_TESTED
    with pytest.raises(UserError, match="'clents' is not an axis; did you mean 'clients'"):
        verdict(where={"clents": 1}, seeds=True, at_least=0.5)
    with pytest.raises(UserError, match="did you mean 'rounds'"):
        verdict(cost="round", seeds=True, at_least=0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"at_least": 0.5}, "needs one of budget, harder, other and seeds"),
        ({"at_least": 0.5, "budget": 0.5, "seeds": True}, "needs one of budget, harder, other and seeds"),
        ({"at_least": 0.5, "other": "rounds"}, "other is rounds, which is the cost itself"),
        ({"budget": 0.5}, "needs at_least or at_most"),
        ({"budget": 1.0, "at_least": 0.5}, "budget is 1.0; it must be a number"),
        ({"harder": 0.01, "at_least": 0.5}, "a target would be reached at the start"),
        ({"seeds": True, "shares": [2.0], "at_least": 0.5}, "each must lie between 0 and 1"),
    ],
)
def test_wrong_options_give_one_sentence(options, message):
    with pytest.raises(UserError, match=message) as error:
        build({"kind": "same_order", **options})
    assert "\n" not in str(error.value)
