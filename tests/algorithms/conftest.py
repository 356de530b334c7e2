"""A problem that the tests of several algorithms use."""

import pytest

from fedatlas.testing import optima


@pytest.fixture(scope="module")
def heterogeneous():
    return optima.heterogeneous()
