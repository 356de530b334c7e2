"""Common random numbers: samples, participation and starts depend on seed and round alone."""

import itertools

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.compiled.lockstep import draw
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.sampling import SAMPLING
from fedatlas.federation.sampling.replacement import STREAM_DRAWS, ReplacementSampler
from fedatlas.federation.sampling.reshuffling import ReshufflingSampler
from fedatlas.federation.streams import _PURPOSE, states, stream, streams
from tests.helpers import each_algorithm, example, logistic, where_defined


class Spy:
    """A problem that notes which samples each client is asked for, in order; what an exchange before the first round
    asks for comes again in that round and is noted once."""

    def __init__(self, problem):
        self.problem, self.draws = problem, {}

    def __getattr__(self, name):
        return getattr(self.problem, name)

    def batch(self, clients, index):
        for client, rows in zip(clients, index, strict=True):
            samples = self.draws.setdefault(int(client), [])
            samples.extend([] if samples == list(rows) else rows)
        return self.problem.batch(clients, index)


def draws_of(name, seed=3, block=None, heterogeneous=True, **options):
    spy = Spy(logistic(heterogeneous=heterogeneous))
    options = {"clients": 5, "local_steps": 3, "rounds": 4, "batch": 2} | options
    Simulation(example(name, max_steps=2), spy, Setting(**options), seed, block).run()
    return spy.draws


# All but those that draw the number of steps, or run them on one client.
STOCHASTIC = [name for name in ALGORITHMS.names() if name != "gd" and not ALGORITHMS.get(name).overrides("length")]


STOCHASTIC = [name for name in STOCHASTIC if not example(name).single_client()]


@pytest.mark.parametrize(
    ("sampling", "participation"), [("replacement", "full"), ("reshuffling", {"kind": "bernoulli", "p": 0.5})]
)
@pytest.mark.parametrize("name", each_algorithm(STOCHASTIC))
def test_all_algorithms_get_the_same_samples(name, sampling, participation):
    options = {"sampling": sampling, "participation": participation}
    with where_defined():
        samples = draws_of(name, block=2, **options)
    if not samples:
        pytest.skip("asks for full gradients alone")
    assert samples == draws_of("fedavg", **options)
    assert samples != draws_of(name, seed=4, **options)


def test_pooled_clients_get_the_samples_of_all():
    apart, pooled = draws_of("fedavg", heterogeneous=False), draws_of("mb-sgd", heterogeneous=False)
    assert list(pooled) == [0]
    assert sorted(pooled[0]) == sorted(itertools.chain(*apart.values()))


@pytest.mark.parametrize("kind", ["replacement", "reshuffling"])
@pytest.mark.parametrize("heterogeneous", [True, False])
def test_a_clients_samples_do_not_depend_on_who_else_is_there(kind, heterogeneous):
    sampler = SAMPLING.build(kind).bind(logistic(heterogeneous=heterogeneous), 5, 3, seed=7)
    everybody = sampler.draw(2, np.arange(5), 4)
    assert everybody.shape == (5, 4, 3)
    for group in ([0], [3], [1, 4], [0, 2, 3]):
        assert (sampler.draw(2, np.array(group), 4) == everybody[group]).all()
    assert (sampler.draw(3, np.arange(5), 4) != everybody).any()
    assert len({row.tobytes() for row in everybody}) == 5


@pytest.mark.parametrize("kind", ["replacement", "reshuffling"])
def test_clients_draw_from_their_own_data(kind):
    problem = logistic()
    draws = SAMPLING.build(kind).bind(problem, 5, 4, seed=0).draw(0, np.arange(5), 6)
    for i in range(5):
        assert np.isin(draws[i], problem.partition.client(i)).all()


def test_reshuffling_passes_over_all_data_before_any_comes_twice():
    problem = logistic()
    indices = problem.partition.client(1)
    samples = ReshufflingSampler(problem, 5, 1, seed=0).draw(0, np.array([1]), 2 * len(indices) + 1).ravel()
    first, second = samples[: len(indices)], samples[len(indices) : 2 * len(indices)]
    assert sorted(first) == sorted(second) == sorted(indices)
    assert (first != second).any() and (first != indices).any()


def test_draws_are_uniform():
    samples = ReplacementSampler(logistic(heterogeneous=False), 50, 4, seed=0).draw(0, np.arange(50), 60)
    counts = np.bincount(samples.ravel(), minlength=60)
    expected = samples.size / 60
    assert ((counts - expected) ** 2 / expected).sum() < 59 + 5 * np.sqrt(2 * 59)


def test_full_gradients_draw_nothing():
    assert ReplacementSampler(logistic(), 5, None, seed=0).draw(0, np.arange(5), 3) is None
    with pytest.raises(UserError, match="unknown sampling 'bootstrap'"):
        SAMPLING.get("bootstrap")


@pytest.mark.parametrize("options", [{"batch": 7}, {"sampling": "reshuffling"}, {"local_steps": 1}, {"rounds": 9}])
def test_participation_does_not_depend_on_samples(options):
    base = {"clients": 5, "local_steps": 3, "rounds": 4, "participation": {"kind": "uniform", "count": 2}}
    active = [
        [Setting(**conditions).participation_kind.bind(None, 5, 1).active(t).tolist() for t in range(4)]
        for conditions in (base, base | options)
    ]
    assert active[0] == active[1]
    who = [set(draws_of("fedavg", **conditions)) for conditions in (base, base | options | {"rounds": 4})]
    assert who[0] == who[1]


def test_streams_are_all_different():
    indices = ((), (0,), (1,), (0, 0), (0, 1))
    keys = [(seed, purpose, *index) for seed in (0, 1) for purpose in _PURPOSE for index in indices]
    first = {stream(*key).integers(2**63) for key in keys}
    assert len(first) == len(keys)
    assert stream(0, "samples", 3).integers(2**63) == stream(0, "samples", 3).integers(2**63)


def test_several_streams_are_those_that_a_seed_sequence_makes():
    last = np.array([0, 1, 7, 2**31, 2**32 - 1])
    for seed in (0, 1, 2**32 - 1, 2**32, 2**127 + 5, 2**128, 2**200 + 7, np.int64(5)):
        for purpose in ("samples", "test"):
            for index in ((), (0,), (2**32 - 1, 3)):
                several = streams(seed, purpose, *index, last=last)
                alone = [stream(seed, purpose, *index, int(k)) for k in last]
                states = [[rng.bit_generator.state for rng in way] for way in (several, alone)]
                assert states[0] == states[1]


@pytest.mark.parametrize("clients, K", [(1, 1), (3, 2), (5, 70), (70, 100)])
def test_rounds_that_share_a_stream_draw_what_each_draws_alone(clients, K):
    problem = logistic(heterogeneous=False)
    sampler = ReplacementSampler(problem, clients, 1, seed=2)
    across = STREAM_DRAWS // (clients * K) + 2  # into a second stream
    several = sampler.rounds(1, 1 + across, K)
    assert several.shape == (across, clients, K, 1)
    for t in (1, across // 2 + 1, across):
        alone = ReplacementSampler(problem, clients, 1, seed=2).draw(t, np.arange(clients), K)
        np.testing.assert_array_equal(several[t - 1], alone)
    np.testing.assert_array_equal(sampler.rounds(1, 1 + across, K, draw), several)
    assert (sampler.rounds(1, 1 + across, K + 1)[:, :, :K] != several).any()
    sequence = several.ravel()
    if len(sequence) > 2000:
        assert abs(np.corrcoef(sequence[:-1], sequence[1:])[0, 1]) < 5 / np.sqrt(len(sequence))


@pytest.mark.parametrize("bound", [1, 2, 7, 32_561, 2**30 + 1, 3 * 2**29, 2**31 - 1, 2**31])
def test_compiled_draws_are_those_of_numpy(bound):
    """Also where many numbers are rejected, and where the last one is half of 64 bits."""
    for seed in (0, 2**130 + 5):
        draws = np.empty((3, 1001), np.int32)
        draw(states(seed, "samples", (4,), np.array([0, 3, 2**32 - 1]), 16), bound, draws)
        for k, row in zip((0, 3, 2**32 - 1), draws, strict=True):
            alone = stream(seed, "samples", 4, k, 16).integers(bound, size=row.size, dtype=np.int32)
            np.testing.assert_array_equal(row, alone)


def counting(clients=100, K=16):
    problem = logistic(heterogeneous=False)
    sampler = ReplacementSampler(problem, clients, 1, seed=0)
    counts = np.array([sampler.counts(t, clients, K) for t in range(300)])
    return problem, sampler, counts, clients * K


def test_counts_are_multinomial():
    problem, _, counts, size = counting()
    n, rounds = problem.samples, len(counts)
    mean, variance = size / n, size / n * (1 - 1 / n)
    assert (counts.sum(axis=1) == size).all()
    assert np.abs(counts.mean(axis=0) - mean).max() < 5 * np.sqrt(variance / rounds)
    assert counts.var() == pytest.approx(variance, rel=5 * np.sqrt(2 / (n * rounds)))
    squares = ((counts - mean) ** 2 / mean).sum(axis=1)  # chi-square of n - 1 degrees of freedom
    assert abs(squares.mean() - (n - 1)) < 5 * np.sqrt(2 * (n - 1) / rounds)
    pairs = np.corrcoef(counts.T)[np.triu_indices(n, 1)]
    assert pairs.mean() == pytest.approx(-1 / (n - 1), abs=5 / np.sqrt(rounds * n * (n - 1) / 2))
