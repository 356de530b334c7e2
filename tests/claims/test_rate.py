"""The check of the power with which a mean square falls."""

import pytest

from fedatlas.results.claims.verdicts import HELD, NOT_HELD, NOT_TESTED, UNDECIDED
from tests.synthetic import curves, table

from .fixtures import judged, view

AXES = ("local_steps",)
IDS = {"a": 4, "b": 16, "c": 64}
RATE = {"kind": "rate", "along": IDS, "at_least": 0.45, "at_most": 0.55}


def verdict(power, scatter=0.0, seeds=4, status="ok", **options):
    """A metric whose mean square over two rounds is number^-power, times e^+-scatter at the largest number."""
    lines = []
    for id, number in IDS.items():
        for seed in range(seeds):
            root = number ** (-power / 2) * (1 + scatter * (-1) ** seed * (id == "c"))
            lines.append((id, 1, seed, [(0, root * 0.6**0.5), (1, root * 1.4**0.5)]))
    frame = curves(lines, AXES).assign(status=status)
    result = judged(view(list(IDS), AXES), table([(id, (1,), 1.0) for id in IDS], AXES), frame, **RATE | options)
    return result["verdict"], result["ours"]


@pytest.mark.parametrize(
    "power, options, expected",
    [
        (0.5, {}, HELD),
        (0.5, {"scatter": 0.005}, HELD),
        (0.5, {"scatter": 0.5}, UNDECIDED),
        (0.4, {}, NOT_HELD),
        (0.6, {}, NOT_HELD),
        (1.0, {"at_most": None}, HELD),
        (0.5, {"status": "diverged"}, NOT_HELD),
        (0.5, {"seeds": 1}, UNDECIDED),
        (0.5, {"along": {"a": 4}}, NOT_TESTED),
    ],
)
def test_rate(power, options, expected):
    assert verdict(power, **options)[0] == expected


def test_the_words_say_the_interval():
    assert verdict(0.5)[1] == "exponent 0.5 of the mean squared suboptimality at K = 1"
    assert verdict(0.5, letter="M")[1].startswith("exponent 0.5 in M of the")
