"""Clients that come and go: probabilities by the paper's formulas, frequencies to match, traces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedatlas import UserError, train
from fedatlas.federation import partitions
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.participation import trace
from fedatlas.federation.participation.trace import Trace
from fedatlas.federation.problems.base import ClientLabels
from tests.helpers import example, logistic, network, quadratic, softmax


def bound(spec, clients=10, seed=0, problem=None):
    return Setting(clients=clients, rounds=1, participation=spec).participation_kind.bind(problem, clients, seed)


@pytest.mark.parametrize(
    "spec, expected",
    [
        ({"kind": "stationary", "p": 0.3}, lambda t: 0.3),
        ({"kind": "sine", "p": 0.5, "gamma": 0.2}, lambda t: 0.5 * (0.2 * np.sin(0.1 * np.pi * t) + 0.8)),
        ({"kind": "sine", "p": 1.0}, lambda t: 0.3 * np.sin(2 * np.pi * t / 20) + 0.7),
        ({"kind": "staircase", "p": 0.5}, lambda t: 0.5 if t % 20 < 10 else 0.2),
        ({"kind": "interleaved-sine", "p": 0.2}, lambda t: max(0.2 * (0.3 * np.sin(0.1 * np.pi * t) + 0.7), 0.0)),
        ({"kind": "markov", "p": 0.4}, lambda t: 0.4),
        ({"kind": "phases", "p": 0.9, "then": [[0.1], [0.5]], "length": 4}, lambda t: (0.9, 0.1, 0.5)[t // 4 % 3]),
    ],
    ids=lambda case: case["kind"] if isinstance(case, dict) else "",
)
def test_probabilities_follow_the_formulas(spec, expected):
    participants = bound(spec)
    for t in range(45):
        want = expected(t)
        want = 0.0 if spec["kind"] == "interleaved-sine" and want < 0.1 else want
        np.testing.assert_allclose(participants.probabilities(t), want, rtol=1e-12)


def test_interleaved_sine_has_rounds_that_are_certainly_empty():
    participants = bound({"kind": "interleaved-sine", "p": 0.2})
    absent = [t for t in range(20) if not participants.probabilities(t).any()]
    assert absent == [t for t in range(20) if 0.2 * (0.3 * np.sin(0.1 * np.pi * t) + 0.7) < 0.1] and absent
    assert all(len(participants.active(t)) == 0 for t in absent)


def frequencies(participants, clients, rounds):
    active = np.zeros((rounds, clients), bool)
    for t in range(rounds):
        active[t, participants.active(t)] = True
    return active


@pytest.mark.parametrize("kind", ["stationary", "sine", "staircase", "interleaved-sine", "markov"])
def test_frequencies_are_the_probabilities(kind):
    p = [0.1, 0.3, 0.5, 0.9, 1.0]
    spec = {"kind": kind, "p": p} | ({"persistence": 0.5} if kind == "markov" else {})
    seeds, rounds = 40, 40
    total_active, expected = 0, 0
    for seed in range(seeds):
        participants = bound(spec, 5, seed)
        total_active = total_active + frequencies(participants, 5, rounds)
        expected = expected + np.array([participants.probabilities(t) for t in range(rounds)])
    spread = np.sqrt(np.maximum(expected * (1 - expected / seeds), 1e-12))
    z = (total_active - expected) / spread
    assert np.abs(z).max() < 5  # 200 counts
    # totals over rounds are sharper; a chain of persistence 1/2 has three times the variance of independent rounds
    total = (total_active - expected).sum(axis=0) / np.sqrt((spread**2).sum(axis=0) * (3 if kind == "markov" else 1))
    assert np.abs(total).max() < 4


def test_markov_is_stationary_and_persistent():
    p, persistence, rounds = 0.3, 0.8, 400
    active = np.concatenate(
        [
            frequencies(bound({"kind": "markov", "p": p, "persistence": persistence}, 50, s), 50, rounds)
            for s in range(4)
        ],
        axis=1,
    ).astype(float)
    clients = active.shape[1]
    for part in (active[0], active[1], active[-1]):
        assert abs(part.mean() - p) < 4 * np.sqrt(p * (1 - p) / clients)
    for lag in (1, 3):
        correlation = np.mean((active[lag:] - p) * (active[:-lag] - p)) / (p * (1 - p))
        assert correlation == pytest.approx(persistence**lag, abs=0.05)
    arrivals = active[1:][active[:-1] == 0].mean()
    assert arrivals == pytest.approx((1 - persistence) * p, abs=0.01)


def labelled(y, clients, kind="dirichlet", **options):
    problem = ClientLabels()
    problem.labels, problem.partition = y, partitions.split({"kind": kind, **options}, y, clients)
    return problem


def test_u_is_uniform_on_one_and_on_one_half():
    y = np.arange(4)
    problem = labelled(y, 4, "iid")
    order = np.argmax(problem.label_shares(4), axis=1)  # one label each
    p = np.array([bound({"kind": "stationary", "p": "labels"}, 4, s, problem).probabilities(0) for s in range(400)])
    u = p[:, np.argsort(order)]
    assert np.abs(u.mean(axis=0) - [0.5, 0.5, 0.25, 0.25]).max() < 5 * 0.29 / 20
    assert u[:, :2].max() > 0.95 and 0.45 < u[:, 2:].max() <= 0.5


@pytest.mark.parametrize("make", [logistic, softmax, network])
def test_every_labelled_problem_knows_its_mix(make):
    problem = make()
    shares = problem.label_shares(5)
    assert shares.shape[0] == 5 and (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    for i in range(5):
        labels = problem.labels[problem.partition.client(i)]
        np.testing.assert_allclose(shares[i], np.bincount(labels, minlength=shares.shape[1]) / len(labels))


def test_problems_without_labels_say_so():
    setting = Setting(clients=5, rounds=1, participation={"kind": "sine", "p": "labels"})
    with pytest.raises(UserError, match="no labels: give probabilities"):
        Simulation(example("fedavg"), quadratic(), setting)


def test_without_a_partition_everybody_has_the_same_mix():
    shares = softmax(heterogeneous=False).label_shares(7)
    assert shares.shape == (7, 3) and (shares == shares[0]).all()


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_trace_is_read_as_it_was_written(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("trace") / "trace.csv"
    lines = [f"{t},{i},{int(value)}" for t, row in enumerate(rows) for i, value in enumerate(row)]
    path.write_text("\n".join(["round,client,available", *lines]))
    assert trace.read(path, 3).tolist() == rows
    participants = bound({"kind": "trace", "file": str(path)}, 3)
    for t in range(2 * len(rows)):
        assert participants.active(t).tolist() == np.flatnonzero(rows[t % len(rows)]).tolist()
    assert participants.probabilities(0) is None


def test_a_trace_may_be_sparse_and_in_any_order(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("round, client, available\n2,1,1\n\n0,0,1\n1,0,0\n")
    assert trace.read(path, 3).tolist() == [[True, False, False], [False] * 3, [False, True, False]]


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "the columns must be round,client,available"),
        ("round,client\n0,0\n", "the columns must be"),
        ("round,client,available\n", "with a row at least"),
        ("round,client,available\n0,0\n", "not enough values"),
        ("round,client,available\n0,0,1\n0,0,0\n", "no round may name a client twice"),
        ("round,client,available\n-1,0,1\n", "a round from 0 to 19999999"),
        ("round,client,available\n0,1.5,1\n", "after the first line: could not convert string '1.5'"),
        ("round,client,available\n0,0,2\n", "available 0 or 1"),
        ("round,client,available\n0,5,1\n", "a client from 0 to 4"),
        ("round,client,available\n99999999,4,1\n", "a round from 0 to 19999999"),
        ("round,client,available\n0,\udcff,1\n", "is not text in UTF-8"),
    ],
)
def test_bad_traces_are_one_clear_error(tmp_path, text, message):
    path = tmp_path / "trace.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError, match=message) as error:
        Trace(file=str(path)).validate_files(5)
    assert "trace.csv" in str(error.value)


def test_a_setting_reads_no_file_and_a_missing_one_is_told_before_training():
    participation = {"kind": "trace", "file": "nowhere.csv"}
    Setting(clients=5, rounds=1, participation=participation)
    with pytest.raises(UserError, match=r"^nowhere\.csv does not exist$"):
        train("fedavg", {"kind": "quadratic", "dim": 3}, clients=5, rounds=1, lr=0.1, participation=participation)
