"""The metric of how skewed a split is, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from fedatlas.errors import UserError
from fedatlas.federation.metrics import metric


def test_two_labels_by_hand():
    labels = np.array([0, 0, 1, 2, 1, 2, 0, 3])
    split = SimpleNamespace(histogram=lambda y, classes: np.array([[2, 1, 1, 0], [1, 1, 1, 1]]))
    share = metric("two_labels").compute(SimpleNamespace(partition=split, labels=labels), None)
    assert share == pytest.approx((3 / 4 + 2 / 4) / 2)


def test_it_needs_a_split():
    with pytest.raises(UserError, match="give the problem a partition"):
        metric("two_labels").compute(SimpleNamespace(partition=None, labels=np.zeros(3)), None)
