"""Regressions on plain arrays, the classes of the Python interface."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fedatlas.errors import UserError
from fedatlas.federation.problems import logistic, softmax
from fedatlas.federation.problems.array_validation import (
    ClientRows,
    as_evaluation_data,
    as_features,
    as_labels,
    as_partition,
    as_start,
    as_test_rows,
)
from fedatlas.federation.problems.regression import Penalty
from fedatlas.registry.options import construct

EvaluationData = tuple[Any, ArrayLike]  # features and labels of test or validation rows


class Logistic(logistic.Logistic):
    """l2-regularised logistic regression on rows of two classes, without bias.

    Args:
        A: Features (n, d), dense or CSR.
        b: Labels (n,), 0 and 1.
        l2: Weight of |x|^2 / 2, or ``"1/n"``.
        partition: Rows of each client, as a list of arrays or the result of `fedatlas.federation.partitions.split`;
            None if every client draws from all rows.
        test: Features and labels of test rows, or None.
        validation: Features and labels of validation rows, or None.
        test_partition: Test rows of each client, as ``partition``, for metrics over clients.
        **options: Options of the kind ``logistic``.

    Raises:
        UserError: The arrays do not fit.

    Examples:
        >>> import fedatlas
        >>> problem = fedatlas.Logistic([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1], partition=[[0, 1], [2]])
        >>> problem.dim, problem.partition.sizes.tolist()
        (2, [2, 1])
    """

    def __init__(
        self,
        A: Any,
        b: ArrayLike,
        l2: Penalty = 0.0,
        partition: ClientRows = None,
        test: EvaluationData | None = None,
        validation: EvaluationData | None = None,
        test_partition: ClientRows = None,
        **options: Any,
    ) -> None:
        construct("problem logistic", logistic.LogisticRegression, {"l2": l2, **options})
        A = as_features(A)
        labels, classes = as_labels(b, A.shape[0])
        if classes > 2:
            raise UserError(f"logistic regression needs two classes, the data have {classes}: use softmax")
        split = as_partition(partition, A.shape[0])
        evaluation = [as_evaluation_data(data, A.shape[1]) for data in (test, validation)]
        super().__init__(A, labels, l2, split, *evaluation, **options)
        self.part_rows = as_test_rows(test_partition, evaluation[0] and evaluation[0][1], split)


class Softmax(softmax.Softmax):
    """l2-regularised multinomial logistic regression on rows of any number of classes.

    x is the flat (d,) vector of the weights (classes, p), row by row, and then the biases (classes,).

    Args:
        A: Features (n, p).
        y: Labels (n,), whole numbers from 0.
        classes: Number of classes; by default one more than the largest label.
        l2: Weight of |x|^2 / 2, or ``"1/n"``.
        partition: Rows of each client, as of `Logistic`.
        test: Features and labels of test rows, or None.
        validation: Features and labels of validation rows, or None.
        start: First point (d,), by default 0.
        test_partition: Test rows of each client, as of `Logistic`.
        **options: Options of the kind ``softmax``.

    Raises:
        UserError: The arrays do not fit.

    Examples:
        >>> import fedatlas
        >>> problem = fedatlas.Softmax([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 2], partition=[[0, 1], [2]])
        >>> problem.dim, problem.partition.sizes.tolist()
        (9, [2, 1])
    """

    def __init__(
        self,
        A: Any,
        y: ArrayLike,
        classes: int | None = None,
        l2: Penalty = 0.0,
        partition: ClientRows = None,
        test: EvaluationData | None = None,
        validation: EvaluationData | None = None,
        start: ArrayLike | None = None,
        test_partition: ClientRows = None,
        **options: Any,
    ) -> None:
        construct("problem softmax", softmax.SoftmaxRegression, {"l2": l2, **options})
        A = as_features(A)
        labels, count = as_labels(y, A.shape[0], classes)
        if count < 2:
            raise UserError("all labels are 0: a classifier needs two classes at least, or the option classes")
        split = as_partition(partition, A.shape[0])
        evaluation = [as_evaluation_data(data, A.shape[1]) for data in (test, validation)]
        super().__init__(A, labels, count, l2, split, *evaluation, **options)
        self.part_rows = as_test_rows(test_partition, evaluation[0] and evaluation[0][1], split)
        self._start = None if start is None else as_start(start, self.dim).astype(self.dtype)

    def start_from(self, rng: Any) -> np.ndarray:
        return super().start_from(rng) if self._start is None else self._start.copy()
