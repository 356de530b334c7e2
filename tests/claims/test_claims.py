"""Checks of claims on tables whose verdicts are known."""

import math

import pytest

from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED, UNDECIDED

from .fixtures import verdict, view
from .test_better import BETTER, CONTEST

ROUNDS = [("fedavg", (1,), 0.1), ("fedavg", (2,), 0.1), ("fedavg", (4,), 0.3)]


@pytest.mark.parametrize(
    ("target", "paper", "expected", "ours"),
    [(0.2, 32, HELD, 32), (0.2, 31, NOT_HELD, 32), (0.5, 16, HELD, 16), (0.05, 64, NOT_HELD, "∞")],
)
def test_rounds_of_the_shortest_run(target, paper, expected, ours):
    options = {"kind": "reaches", "quantity": "length", "algorithms": ["fedavg"], "target": target, "paper": paper}
    words = f"rounds of the shortest run whose best suboptimality attains {target}: {ours}"
    assert verdict(ROUNDS, ("local_steps",), **options)[:2] == (expected, f"FedAvg: {words}")


@pytest.mark.parametrize(
    ("target", "most", "expected"),
    [
        (0.5, 16, HELD),
        (0.5, 10, UNDECIDED),
        (0.5, 5, UNDECIDED),  # of a bound of 8, evaluated first after 5
        (0.1, 20, NOT_HELD),
        (0.2, 20, UNDECIDED),  # not attained by one seed
    ],
)
def test_rounds_until_a_target(target, most, expected):
    firsts = (8, 8, 8, 12.6)
    lines = [("fedavg", 4, s, [(0, 1), (at, 0.4), (20, 0.2 if s else 0.3)]) for s, at in enumerate(firsts)]
    options = {"kind": "reaches", "algorithms": ["fedavg"], "cost": "rounds", "target": target, "paper": most}
    result = verdict([("fedavg", 4, 1)], lines=lines, **options)
    assert result[0] == expected
    if target == 0.5:
        words = "FedAvg: communication rounds until the suboptimality is at most 0.5: 8.96 (6.24 to 12.9) at M = 4"
        assert result[1] == words


def test_each_setting_passes_at_its_first_evaluated_round():
    rounds = {4: (6, 12, 18), 16: (5, 11, 22)}  # the second of each is the first that is not below the paper's
    losses = {m: [(0, 1), *zip(at, (0.9, 0.4, 0.3), strict=True)] for m, at in rounds.items()}
    lines = [("fedavg", m, seed, losses[m]) for m in rounds for seed in (0, 1)]
    options = {"kind": "reaches", "algorithms": ["fedavg"], "cost": "rounds", "target": 0.5, "paper": 10}
    assert verdict([("fedavg", m, 1) for m in rounds], lines=lines, **options)[0] == HELD


LINEAR = [("fedavg", m, 1 / m) for m in (4, 16, 64)] + [("fedac-1", m, 1 / math.sqrt(m)) for m in (4, 16, 64)]


@pytest.mark.parametrize(
    ("algorithms", "bounds", "expected"),
    [
        (["fedavg"], {"at_least": 0.99}, HELD),
        (["fedavg"], {"at_least": 1.01}, NOT_HELD),
        (["fedac-1"], {"at_most": 0.51}, HELD),
        (["fedavg", "fedac-1"], {"at_least": 0.75}, NOT_HELD),
        (["fedavg", "fedac-1"], {"at_least": 0.4, "at_most": 1.1}, HELD),
    ],
)
def test_speedup(algorithms, bounds, expected):
    assert verdict(LINEAR, kind="exponent", falls=True, algorithms=algorithms, axis="clients", **bounds)[0] == expected


def test_speedup_must_hold_at_every_value_of_the_other_axes():
    rows = [("fedavg", (m, k), 1 / m ** (1 / k)) for m in (4, 16) for k in (1, 4)]
    options = {"kind": "exponent", "falls": True, "algorithms": ["fedavg"], "axis": "clients", "at_least": 0.9}
    assert verdict(rows, ("clients", "local_steps"), **options)[0] == NOT_HELD
    assert verdict(rows, ("clients", "local_steps"), where={"local_steps": 1}, **options)[0] == HELD


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"at_least": 0.05}, HELD),
        ({"at_most": 0.15}, NOT_HELD),
        ({"at_most": 0.15, "where": {"clients": 16}}, HELD),
        ({"at_most": 0.2, "where": {"clients": 16}, "statistic": "final"}, HELD),
        ({"at_most": 0.19, "where": {"clients": 16}, "statistic": "final"}, NOT_HELD),
    ],
)
def test_reaches(options, expected):
    rows = [("fedavg", 4, 0.2), ("fedavg", 16, 0.05), ("fedac-1", 16, 0.1), ("fedac-1", 4, 0.1)]
    assert verdict(rows, kind="reaches", algorithms=["fedavg", "fedac-1"], **options)[0] == expected


def test_what_diverged_reaches_nothing():
    rows = [("fedavg", 4, math.inf)]
    assert verdict(rows, kind="reaches", algorithms=["fedavg"], at_least=1)[:2] == (
        NOT_HELD,
        "FedAvg diverged at M = 4",
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("fedavg", 4, 1.0), ("fedac-1", 4, 1.0 + 1e-8)], HELD),
        ([("fedavg", 4, 1.0), ("fedac-1", 4, 1.0 + 1e-5)], NOT_HELD),
        ([("fedavg", 4, 1e-15), ("fedac-1", 4, -1e-15)], HELD),
        ([("fedavg", 4, 1.0), ("fedac-1", 4, 1.0), ("fedavg", 16, 2.0)], HELD),
        ([("fedavg", 4, 1.0), ("fedac-1", 16, 1.0)], NOT_TESTED),
        ([("fedavg", 4, 1.0), ("fedac-1", 4, math.inf)], NOT_HELD),
        ([("fedavg", 4, math.inf), ("fedac-1", 4, math.inf)], NOT_TESTED),
    ],
)
def test_equal(rows, expected):
    assert verdict(rows, kind="equal", algorithms=["fedavg", "fedac-1"], tolerance=1e-6)[0] == expected


def test_sizes_leave_a_claim_untested():
    options = {**CONTEST, "where": {"clients": 4}}
    assert verdict(BETTER, sizes=["paper"], **options)[:2] == (NOT_TESTED, "")
    assert verdict(BETTER, sizes=["paper", "smoke"], **options)[0] == HELD


@pytest.mark.parametrize(
    ("factor", "note"),
    [(1.05, "Decided after 8 seeds, by intervals"), (1.1, "Undecided after 8 seeds, all that there are.")],
)
def test_a_row_names_the_seeds_that_it_has(factor, note):
    """Entries may have fewer seeds than the first interim analysis."""
    lines = [("fedac-1", 4, seed, [(0, 1), (9, 0.9 + 0.001 * (-1) ** seed)]) for seed in range(8)]
    lines += [("fedavg", 4, seed, [(0, 1), (9, 0.99)]) for seed in range(8)]
    options = {"kind": "better", "algorithm": "fedac-1", "than": ["fedavg"], "at_least": factor}
    experiment = view(analyses=(20, 40, 80), seeds=list(range(80)))
    assert verdict([("fedavg", 4, 1), ("fedac-1", 4, 1)], experiment=experiment, lines=lines, **options)[2].startswith(
        note
    )


def test_missing_rows_are_said():
    result = verdict(BETTER, kind="reaches", algorithms=["fedavg"], at_least=0, where={"clients": 7})
    assert result == (NOT_TESTED, "", "No results of FedAvg at M = 7.")


@pytest.mark.parametrize(("share", "expected"), [(None, NOT_HELD), (0.5, HELD), (0.7, NOT_HELD), (2 / 3, NOT_HELD)])
def test_reaches_in_a_share_of_the_settings(share, expected):
    rows = [("fedavg", 4, 0.1), ("fedavg", 16, 0.2), ("fedavg", 64, 0.3)]
    result = verdict(rows, kind="reaches", algorithms=["fedavg"], at_most=0.25, share=share)
    assert result[0] == expected
    assert not share or result[1] == "FedAvg: best suboptimality at most 0.25 in a share 0.667 of 3 settings"
