"""The choice of threads by the time that rounds take."""

import itertools

import pytest

from fedatlas.federation.engine.pools import AGAIN, TRIALS, Pace


def threads_of(rounds, seconds, most=2):
    """The threads of each round. seconds: of a round on a number of threads, by number, or a function of both."""
    pace, chosen = Pace(most), []
    for t in range(rounds):
        chosen.append(pace.threads)
        pace.add(seconds(t, pace.threads) if callable(seconds) else seconds[pace.threads])
    return chosen


def test_one_thread_stays_one():
    assert set(threads_of(2 * AGAIN, {1: 1.0}, most=1)) == {1}


@pytest.mark.parametrize("faster, slower", [(1, 4), (4, 1)])
def test_rounds_follow_the_faster_way_and_try_the_other_again(faster, slower):
    close = threads_of(3 * AGAIN, {faster: 1.0, slower: 1.1}, most=4)
    assert close[0] == 4  # a run of one round has the threads that it asks for
    assert close[1 : 2 * TRIALS + 1] == [1, 4] * TRIALS
    assert [t for t, threads in enumerate(close) if threads == slower and t > 2 * TRIALS] == [AGAIN, 2 * AGAIN]
    clear = threads_of(AGAIN, {faster: 1.0, slower: 2.0}, most=4)
    assert set(clear[3:]) == {faster}


def test_the_choice_changes_with_the_machine():
    late = threads_of(20 * AGAIN, lambda t, threads: 1.0 if threads == (1 if t < AGAIN else 2) else 3.0)
    assert set(late[2 * TRIALS : AGAIN]) == {1}
    assert [threads for threads, _ in itertools.groupby(late[-AGAIN + 1 :])] == [2]
