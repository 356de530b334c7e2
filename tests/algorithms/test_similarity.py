"""Methods of Table 1 of FedRed: local solvers, models of one client, costs, refused settings."""

import warnings

import numpy as np
import pytest

from fedatlas import UserError
from fedatlas.experiments.cells import Run
from fedatlas.experiments.runs import create
from fedatlas.federation import algorithms, problems
from tests.helpers import logistic, run


@pytest.mark.parametrize("name", ["dane+-gd", "dane+-fgd"])
def test_a_local_solver_that_may_not_converge_is_warned_of(name):
    """The clients' own smoothness decides, which is larger than that of the mean objective."""
    problem, lam = logistic(), 0.01
    largest = problem.constant("L_max")
    slow, fast = ({"lr": factor / (largest + lam), "lam": lam} for factor in (1.99, 2.01))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        algorithms.create(name, slow).with_constants(problem)
    with pytest.warns(UserWarning, match=r"above 2/\(L_max \+ lam\).*max_steps = 1000 .*take lr = 1/\(L_max \+ lam\)"):
        algorithms.create(name, fast).with_constants(problem)


def test_rounds_of_fedred_have_geometric_lengths(heterogeneous):
    rows = run("fedred-gd", {"eta": 30.0, "p": 0.05}, heterogeneous, rounds=600).rows
    lengths = np.diff([row["steps"] for row in rows])
    assert lengths.min() == 1 and abs(lengths.mean() - 20) < 4 * 20 / np.sqrt(600)
    assert rows[-1]["gradients"] == lengths.sum() + 600  # one more in each round for the control variate


# --- costs of R = 4 rounds of 5 clients with 12 samples each ---


# --- what is refused before any run ---


@pytest.mark.parametrize(
    "changes, problem",
    [
        (
            {"setting": {"clients": 5, "rounds": 2, "participation": {"kind": "uniform", "count": 2}}},
            "full participation",
        ),
        ({"problem": {"kind": "logistic"}}, "no exact proximal step"),
        ({"algorithm": "sonata", "parameters": {"tau": 1, "graph": "erdos-renyi", "link_p": 0.01}}, "not connected"),
    ],
)
def test_algorithms_are_refused_where_they_are_not_defined(changes, problem):
    plain = {"algorithm": "dane", "parameters": {"lam": 1.0}, "problem": {"kind": "quadratic"}}
    plain |= {"setting": {"clients": 5, "rounds": 2}, "seed": 0, "within": {}, "tune": {}}
    check(Run(**plain))
    with pytest.raises(UserError, match=problem):
        check(Run(**plain | changes))


def check(run):
    algorithm, setting = create(run)
    algorithm.validate(setting, problems.get(run.problem["kind"]))
