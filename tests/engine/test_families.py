"""What every rule of participation, every schedule and every way of sampling promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedatlas.errors import UserError
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.participation import PARTICIPATION
from fedatlas.federation.schedules import SCHEDULES
from tests.helpers import logistic

ASYNCHRONOUS = {"kind": "asynchronous", "buffer": 2, "concurrency": 3}
UNIT = st.floats(0, 1)
PROBABILITY = st.floats(0.01, 1)
ROUNDS = st.integers(1, 30)
OPTIONS = {
    "full": {},
    "uniform": {"count": st.integers(1, 5)},
    "stationary": {},
    "sine": {"gamma": UNIT, "period": ROUNDS},
    "interleaved-sine": {"gamma": UNIT, "period": ROUNDS, "cutoff": UNIT},
    "staircase": {"low": UNIT, "length": ROUNDS},
    "phases": {
        "then": st.lists(st.lists(PROBABILITY, min_size=5, max_size=5), min_size=1, max_size=2),
        "length": ROUNDS,
    },
    "markov": {"persistence": st.floats(0, 0.99)},
    "trace": {},
}
P = st.one_of(PROBABILITY, st.lists(PROBABILITY, min_size=5, max_size=5), st.just("labels"))


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    path = tmp_path_factory.mktemp("trace") / "trace.csv"
    path.write_text("round,client,available\n0,4,1\n0,1,1\n2,0,1\n2,3,0\n")
    return str(path)


@settings(max_examples=25)
@pytest.mark.parametrize("name", OPTIONS)
@given(st.data())
def test_who_is_active_is_sorted_in_range_and_the_same_in_any_order(name, trace, data):
    spec = {"kind": name} | {option: data.draw(values, option) for option, values in OPTIONS[name].items()}
    if "p" in PARTICIPATION.get(name).options():
        spec["p"] = data.draw(P, "p")
    if name == "trace":
        spec["file"] = trace
    rule, problem, seed = PARTICIPATION.build(spec), logistic(), data.draw(st.integers(0, 9), "seed")
    rule.validate_clients(5)
    assert rule.files() == ((trace,) if name == "trace" else ())
    participants = rule.bind(problem, 5, seed)
    in_order = [participants.active(t) for t in range(12)]
    for t in data.draw(st.permutations(range(12)), "order"):
        for drawing in (participants, rule.bind(problem, 5, seed)):
            assert (drawing.active(t) == in_order[t]).all()
    for t, active in enumerate(in_order):
        assert (np.diff(active) > 0).all() and set(active) <= set(range(5))
        probabilities = participants.probabilities(t)
        if name != "trace":
            assert probabilities.shape == (5,) and ((probabilities >= 0) & (probabilities <= 1)).all()
            assert (probabilities[active] > 0).all()


@given(st.integers(0, 1000))
def test_factors_of_schedules_are_positive_and_start_at_1(t):
    for spec in ("constant", {"kind": "exponential", "decay": 0.99}, "inverse-sqrt"):
        schedule = SCHEDULES.build(spec)
        assert schedule.factor(0) == 1 and 0 < schedule.factor(t) <= 1


@pytest.mark.parametrize(
    "options, message",
    [
        ({"clients": 0}, "setting: clients is 0; it must be a whole number, at least 1"),
        ({"batch": 1.5}, "setting: batch is 1.5"),
        ({"rounds": True}, "setting: rounds is True"),
        ({"sampling": "epochs"}, "unknown sampling 'epochs' (known: legacy, replacement, reshuffling)"),
        ({"metrics": "loss"}, "metrics is 'loss'; it must be a list"),
        ({"participation": {"count": 2}}, "has no kind"),
        ({"participation": 3}, "participation is 3; it must be a kind, or a mapping"),
        ({"participation": {"kind": "phases", "p": 0.5, "then": [[0.0]], "length": 1}}, "then has [0.0]; it must hold"),
        ({"participation": {"kind": "phases", "p": 0.5, "then": [[1, 1]], "length": 1}}, "a list of then has 2 values"),
        ({"participation": {"kind": "sine", "p": [0.5, 0.5]}}, "p has 2 values; give one for all clients, or one for"),
        ({"schedule": {"kind": "exponential", "decay": 0}}, "decay is 0; it must be a number larger than 0"),
        ({"schedule": "exponential"}, "schedule exponential needs a value for 'decay'"),
        ({"schedule": {"kind": "exponential", "decay": 1e308}, "rounds": 2}, None),
        ({"schedule": {"kind": "inverse-sqrt", "period": 0}}, "period is 0"),
        ({"schedule": "linear"}, "unknown schedule 'linear'"),
        ({"participation": {"kind": "uniform", "count": 6}}, "between 1 and clients"),
        ({"participation": {"kind": "sine", "p": "label"}}, "or 'labels'"),
        ({"participation": {"kind": "sine", "p": [0.5, None]}}, "or a list, of which each entry is a number larger"),
        ({"participation": {"kind": "markov", "p": 0.5, "persistence": 1}}, "below 1"),
        ({"local_epochs": 1, "local_steps": 2}, "local_steps or local_epochs, not both"),
        ({"local_epochs": 2, "steps": 10, "rounds": None}, "steps and eval_steps count local_steps"),
        ({"local_epochs": 2, "eval_steps": 4}, "steps and eval_steps count local_steps"),
        ({"epochs": 10, "rounds": None}, "epochs count local_epochs"),
        ({"local_epochs": 2, "epochs": 8}, "either rounds or epochs"),
        ({"local_epochs": 4, "epochs": 3, "rounds": None}, "less than one round of local_epochs = 4"),
        ({"local_epochs": 0}, "local_epochs is 0"),
        ({"local_epochs": 1, "sampling": "legacy"}, "sampling is legacy"),
        ({"state": "cloud"}, "state is 'cloud'"),
        ({"driver": ASYNCHRONOUS | {"concurrency": 6}}, "concurrency is 6; it must be a whole number between 1 and c"),
        ({"driver": ASYNCHRONOUS, "participation": {"kind": "uniform", "count": 2}}, "leave participation out"),
        ({"driver": ASYNCHRONOUS, "record": ["local_loss"]}, "leave record out"),
        ({"driver": {"kind": "synchronous", "model": 3}}, "model is 3"),
    ],
)
def test_bad_settings_are_one_clear_error(options, message):
    arguments = {"clients": 5, "rounds": 1} | options
    if message is None:
        assert Setting(**arguments)
        return
    with pytest.raises(UserError) as error:
        Setting(**arguments)
    assert message in str(error.value)
