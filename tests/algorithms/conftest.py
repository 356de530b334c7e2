"""A problem that the tests of several algorithms use."""

import pytest

from tests.helpers import quadratic


@pytest.fixture(scope="module")
def heterogeneous():
    return quadratic(clients=5, dim=6, noise=0, mu=1.0, L=20.0, similarity=0.9, heterogeneity=3.0)
