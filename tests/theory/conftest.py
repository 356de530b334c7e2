"""What the tests of the theorems share."""

import pytest

from fedatlas.theory.evaluation import fedac_constants
from tests.helpers import logistic


@pytest.fixture(scope="module")
def problem():
    result = logistic(samples=40, dim=4, heterogeneous=False)
    result.optimum = result.solve()
    return result


@pytest.fixture(scope="module")
def constants(problem):
    return fedac_constants(problem)
