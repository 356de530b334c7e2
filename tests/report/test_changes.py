"""What counts as a change of an experiment's file."""

import copy
import dataclasses
import json

import pytest

from fedatlas.publish.report.changes import changed_keys, digests
from tests.report.sample import experiment

CLAIM = {"text": "So.", "source": "Here", "check": {"kind": "better", "algorithm": "fedac-1", "than": ["fedavg"]}}
CONTENT = json.loads(json.dumps(dataclasses.asdict(experiment(claims={"so": CLAIM}))))


@pytest.mark.parametrize(
    ("path", "value", "keys"),
    [
        (["title"], "Other words", []),
        (["notes"], ["Another."], []),
        (["figures", "speed", "caption"], "Another.", []),
        (["claims", "so", "text"], "Thus.", []),
        (["algorithms", "fedavg", "label"], "FA", []),
        (["algorithms", "fedavg", "a_new_option"], None, ["algorithms"]),
        (["figures", "speed", "panel"], None, ["figures"]),
        (["claims", "so", "check", "than"], ["mb-sgd"], ["claims"]),
        (["problem", "l2"], 0.1, ["problem"]),
        (["select", "extend"], 0, ["select"]),
        (["seeds"], [0], ["seeds"]),
        (["trials"], 8, ["trials"]),
    ],
)
def test_keys_that_change_what_is_run_drawn_or_claimed_count(path, value, keys):
    other = copy.deepcopy(CONTENT)
    inner = other
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert changed_keys(digests(CONTENT), digests(other)) == keys


def test_an_option_that_is_the_default_is_as_if_it_were_not_there():
    without = copy.deepcopy(CONTENT)
    for section, key in (
        (without, "trials"),
        (without["algorithms"]["fedavg"], "advised"),
        (without["select"], "last"),
    ):
        del section[key]
    assert changed_keys(digests(CONTENT), digests(without)) == []


def test_the_order_of_algorithms_counts_because_it_decides_colours():
    other = {**CONTENT, "algorithms": dict(reversed(CONTENT["algorithms"].items()))}
    assert changed_keys(digests(CONTENT), digests(other)) == ["algorithms"]
