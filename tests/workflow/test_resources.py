"""What jobs ask of a cluster."""

import pytest

from fedatlas.workflow.resources import GROUP, group, resources

CONVEX = {"kind": "logistic", "data": "a9a"}
NETWORK = {"kind": "network", "data": "mnist"}


@pytest.mark.parametrize("device, gpu", [(None, 0), ("cpu", 0), ("auto", 0), ("cuda", 1), ("cuda:1", 1)])
def test_a_gpu_is_asked_for_where_the_experiment_names_one(device, gpu):
    problem = NETWORK | ({"device": device} if device else {})
    assert resources(problem)["gpu"] == gpu


def test_larger_problems_ask_for_more():
    quadratic, small, large = (
        resources(problem) for problem in ({"kind": "quadratic"}, {"kind": "logistic", "data": "breast_cancer"}, CONVEX)
    )
    assert quadratic["mem_mb"] <= small["mem_mb"] < large["mem_mb"] < resources(NETWORK)["mem_mb"]
    assert large["runtime"] < resources(NETWORK)["runtime"]


def test_epsilon_fits_thrice_and_into_24_gigabytes():
    """It stays in single precision."""
    asked = resources({"kind": "logistic", "data": "epsilon"})["mem_mb"]
    assert 3 * 4 * 400_000 * 2_000 / 1e6 < asked < 24_000


def test_networks_have_jobs_of_their_own():
    assert group(CONVEX) == GROUP and group(NETWORK) is None
