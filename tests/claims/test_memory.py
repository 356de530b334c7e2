"""The check that counts what is kept for a client."""

import pytest

from fedatlas.experiments.experiment_view import AlgorithmView
from fedatlas.results.claims.verdicts import HELD, NOT_HELD

from .fixtures import verdict, view

IDS = ("fedawe", "fedavg", "mifa", "scaffold")
PROBLEM = {"kind": "quadratic", "centers": [[0.0, 0.0], [1.0, 1.0]]}


def experiment():
    entries = {id: AlgorithmView(id, id, set={"lr": 0.1}) for id in IDS}
    setting = {"clients": 2, "local_steps": 1, "rounds": 1, "batch": None}
    return view(IDS, ("clients",), "suboptimality", tune=(), algorithms=entries, problem=PROBLEM, setting=setting)


@pytest.mark.parametrize(
    ("options", "expected", "words"),
    [
        ({"algorithm": "fedawe", "beside": ["fedavg", "mifa"]}, HELD, "1 vector and 1 number; "),
        ({"algorithm": "scaffold", "at_most": 0}, NOT_HELD, "1 vector"),
        ({"algorithm": "fedavg", "at_most": 0}, HELD, "nothing"),
    ],
)
def test_vectors_that_are_kept_for_a_client_are_counted(options, expected, words):
    lines = [(id, 2, 0, [(0, 1.0), (1, 0.5)]) for id in IDS]
    rows = [(id, 2, 0.5) for id in IDS]
    outcome = verdict(rows, ("clients",), experiment(), lines, kind="memory", **{"at_most": 1, **options})
    assert outcome[0] == expected and words in outcome[1]
