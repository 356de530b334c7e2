"""A problem that the tests of several algorithms use."""

import pytest

from fedatlas.testing import convergence


@pytest.fixture(scope="module")
def heterogeneous():
    return convergence.heterogeneous()
