"""Checks of claims on tables whose verdicts are known."""

import math

import pytest

from fedatlas.errors import UserError
from fedatlas.experiments.claim import Claim
from fedatlas.results.claims.judge import judge_claims
from fedatlas.results.claims.results import Results
from fedatlas.results.claims.verdicts import COLUMNS, HELD, NOT_HELD, NOT_TESTED, UNDECIDED
from tests.synthetic import curves, curves_of, table

from .fixtures import judged, verdict, view
from .test_better import BETTER, CONTEST

ROUNDS = [("fedavg", (1,), 0.1), ("fedavg", (2,), 0.1), ("fedavg", (4,), 0.3)]


@pytest.mark.parametrize(
    ("target", "paper", "expected", "ours"),
    [
        (0.2, 32, HELD, "32 communication rounds until the suboptimality is at most 0.2"),
        (0.2, 31, NOT_HELD, "32 communication rounds until the suboptimality is at most 0.2"),
        (0.5, 16, HELD, "16 communication rounds until the suboptimality is at most 0.5"),
        (0.05, 64, NOT_HELD, "the suboptimality is at most 0.05 on 0 of 2 seeds"),
    ],
)
def test_rounds_to(target, paper, expected, ours):
    result = verdict(
        ROUNDS, ("local_steps",), kind="first_round", whole=True, algorithm="fedavg", target=target, paper=paper
    )
    assert result[:2] == (expected, f"FedAvg: {ours}")


@pytest.mark.parametrize(("paper", "expected"), [(32, HELD), (64, NOT_HELD), (16, NOT_HELD)])
def test_rounds_to_exactly(paper, expected):
    """What a baseline is said to require is refuted by fewer rounds as well."""
    options = {
        "kind": "first_round",
        "whole": True,
        "algorithm": "fedavg",
        "target": 0.2,
        "paper": paper,
        "exactly": True,
    }
    assert verdict(ROUNDS, ("local_steps",), **options)[0] == expected


def test_rounds_to_where_large_is_good():
    experiment = view(axes=("local_steps",), metric="test_accuracy", goal="max")
    options = {"kind": "first_round", "whole": True, "algorithm": "fedavg", "target": 0.2}
    assert verdict(ROUNDS, ("local_steps",), experiment, **options)[:2] == (
        HELD,
        "FedAvg: 16 communication rounds until the test accuracy is at least 20 %",
    )


@pytest.mark.parametrize(
    ("target", "paper", "expected", "ours"),
    [
        (0.5, 16, HELD, "round 8.96 (6.24 to 12.9) until the suboptimality is at most 0.5 at M = 4"),
        (0.5, 10, UNDECIDED, "round 8.96 (6.24 to 12.9) until the suboptimality is at most 0.5 at M = 4"),
        (
            0.5,
            5,
            UNDECIDED,
            "round 8.96 (6.24 to 12.9) until the suboptimality is at most 0.5 at M = 4",
        ),  # of a bound of 8, evaluated first after 5
        (0.1, None, NOT_HELD, "the suboptimality is at most 0.1 on 0 of 4 seeds at M = 4"),
        (0.5, None, HELD, "round 8.96 (6.24 to 12.9) until the suboptimality is at most 0.5 at M = 4"),
        (0.2, None, UNDECIDED, "the suboptimality is at most 0.2 on 3 of 4 seeds at M = 4"),
    ],
)
def test_first_round(target, paper, expected, ours):
    firsts = (8, 8, 8, 12.6)
    lines = [("fedavg", 4, s, [(0, 1), (at, 0.4), (20, 0.2 if s else 0.3)]) for s, at in enumerate(firsts)]
    options = {"kind": "first_round", "algorithm": "fedavg", "target": target}
    options |= {} if paper is None else {"paper": paper}
    assert verdict([("fedavg", 4, 1)], lines=lines, **options)[:2] == (expected, f"FedAvg: {ours}")


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


def test_speedup_says_the_slopes():
    options = {
        "kind": "exponent",
        "falls": True,
        "algorithms": ["fedavg", "fedac-1"],
        "axis": "clients",
        "at_least": 0.1,
    }
    words = "of the fall of the best suboptimality in M"
    assert verdict(LINEAR, **options)[1] == f"FedAvg: exponent 1 {words}; FedAc-I: exponent 0.5 {words}"


def test_speedup_must_hold_at_every_value_of_the_other_axes():
    rows = [("fedavg", (m, k), 1 / m ** (1 / k)) for m in (4, 16) for k in (1, 4)]
    options = {"kind": "exponent", "falls": True, "algorithms": ["fedavg"], "axis": "clients", "at_least": 0.9}
    assert verdict(rows, ("clients", "local_steps"), **options)[0] == NOT_HELD
    assert verdict(rows, ("clients", "local_steps"), where={"local_steps": 1}, **options)[0] == HELD


def test_speedup_that_diverges_is_none():
    rows = [("fedavg", 4, 0.1), ("fedavg", 16, math.inf)]
    options = {"kind": "exponent", "falls": True, "algorithms": ["fedavg"], "axis": "clients"}
    assert verdict(rows, at_least=0.5, **options)[:2] == (NOT_HELD, "FedAvg diverged")
    assert verdict(rows, at_most=0.5, **options)[0] == NOT_HELD


def test_speedup_needs_two_positive_scores():
    rows = [("fedavg", 4, 0.1), ("fedavg", 16, -1e-17)]
    assert (
        verdict(rows, kind="exponent", falls=True, algorithms=["fedavg"], axis="clients", at_least=0.5)[0] == NOT_TESTED
    )


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


@pytest.mark.parametrize(("tolerance", "expected"), [(0.011, HELD), (0.009, NOT_HELD)])
def test_equal_to_an_amount(tolerance, expected):
    options = {"kind": "equal", "algorithms": ["fedavg", "fedac-1"], "absolute": True, "tolerance": tolerance}
    result = verdict([("fedavg", 4, 0.01), ("fedac-1", 4, 0.02)], **options)
    assert result[0] == expected and "relative" not in result[1]


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
    options = {"kind": "better", "algorithm": "fedac-1", "than": ["fedavg"], "factor": factor}
    experiment = view(analyses=(20, 40, 80), seeds=list(range(80)))
    assert verdict([("fedavg", 4, 1), ("fedac-1", 4, 1)], experiment=experiment, lines=lines, **options)[2].startswith(
        note
    )


def test_missing_rows_are_said():
    result = verdict(BETTER, kind="reaches", algorithms=["fedavg"], at_least=0, where={"clients": 7})
    assert result == (NOT_TESTED, "", "No results of FedAvg at M = 7.")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"algorithm": "fedac"}, "did you mean 'fedac-1'"),
        ({"metric": "suboptimal"}, "unknown metric"),
        ({"where": {"client": 4}}, "did you mean 'clients'"),
    ],
)
def test_errors_name_file_and_claim(change, message):
    with pytest.raises(UserError, match=rf"made_up \(size smoke\): claims\.it\.check: .*{message}"):
        verdict(BETTER, **CONTEST | change)


def test_columns_and_paper_number():
    options = {"kind": "reaches", "algorithms": ["fedavg"], "at_most": 1, "paper": 7}
    claims = {"it": Claim(text="t", source="s", note="Why.", check=options)}
    rows = [("fedavg", 4, 0.5)]
    experiment, frame = view(), table(rows)
    result = judge_claims(claims, Results(experiment, frame, curves_of(rows), frame))
    assert tuple(result.columns) == COLUMNS
    assert result.iloc[0].to_dict() == {
        "experiment": "made_up", "size": "smoke", "claim": "it", "text": "t", "source": "s", "paper": "7",
        "ours": "FedAvg: best suboptimality 0.5 at M = 4", "verdict": HELD, "note": "Why.",
        "interpretation": "", "value": 0.5, "low": 0.5, "high": 0.5, "seeds": 2, "p": "",
    }  # fmt: skip
    assert list(judge_claims({}, Results(experiment, frame, curves([]), frame)).columns) == list(COLUMNS)


@pytest.mark.parametrize(
    ("options", "paper", "ours"),
    [
        ({"kind": "reaches", "at_most": 1, "paper": 0.2}, "20 %", "FedAvg: best test accuracy 50 % at M = 4"),
        ({"kind": "reaches", "at_most": 1, "paper": "0.2 to 0.3"}, "0.2 to 0.3", None),
        ({"kind": "drop", "axis": "clients", "at_most": 1, "paper": 0.1}, "10 points", None),
    ],
)
def test_shares_are_told_in_percent_on_both_sides(options, paper, ours):
    experiment, rows = view(metric="test_accuracy", goal="max"), [("fedavg", 4, 0.5), ("fedavg", 16, 0.4)]
    lines = curves_of(rows, metric="test_accuracy", goal="max")
    result = judged(experiment, table(rows), lines, algorithms=["fedavg"], **options)
    assert result["paper"] == paper
    assert ours is None or result["ours"].startswith(ours)


@pytest.mark.parametrize(("share", "expected"), [(None, NOT_HELD), (0.5, HELD), (0.7, NOT_HELD), (2 / 3, NOT_HELD)])
def test_reaches_in_a_share_of_the_settings(share, expected):
    rows = [("fedavg", 4, 0.1), ("fedavg", 16, 0.2), ("fedavg", 64, 0.3)]
    result = verdict(rows, kind="reaches", algorithms=["fedavg"], at_most=0.25, share=share)
    assert result[0] == expected
    assert not share or result[1] == "FedAvg: best suboptimality at most 0.25 in a share 0.667 of 3 settings"
