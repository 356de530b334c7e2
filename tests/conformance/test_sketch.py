"""A sketch is an algorithm like others: products and largest entries keep their bits over blocks of clients."""

from dataclasses import dataclass

import numpy as np

from fedatlas import Algorithm, option
from fedatlas.arrays import convert, product, top_k
from fedatlas.federation.arrays import State
from fedatlas.testing import FAILED, Implementation, run_tests


@dataclass(frozen=True, kw_only=True)
class Sketched(Algorithm):
    """Sketched (Rothchild et al. 2020) is FedAvg whose clients send a product with a random matrix, as in FetchSGD."""

    name = "sketched"
    label = "Sketched"
    cite = "mcmahan2017"

    lr: float = option(doc="local step size", above=0)
    width: int = option(200, doc="numbers that a client sends", unit="numbers", low=1)
    k: int = option(4, doc="entries that a round changes", unit="entries", low=1)

    def matrix(self, x):
        return convert(np.random.default_rng(0).standard_normal((len(x), self.width)) / self.width**0.5, x)

    def init(self, x0):
        return State(x=x0, error=product(x0, self.matrix(x0)) * 0), State()

    def client(self, s, i, steps):
        y = s.x
        for g in steps:
            y = y - self.lr * g(y)
        return State(sketch=self.sketch(y - s.x, self.matrix(s.x))), State()

    def sketch(self, v, A):
        return product(v, A)

    def server(self, s, mean, n):
        A = self.matrix(s.x)
        total = s.error + mean.sketch
        change = top_k(product(total, A.T), self.k)
        return State(x=s.x + change, error=total - product(change, A))


@dataclass(frozen=True, kw_only=True)
class Multiplied(Sketched):
    """Multiplied (Rothchild et al. 2020) is Sketched with a product of whole blocks."""

    name = "multiplied"

    def sketch(self, v, A):
        return v @ A


def failures(cls, only=()):
    outcomes = run_tests(Implementation(cls, {"lr": 0.1}), only)
    return [outcome.test for outcome in outcomes if outcome.status == FAILED]


def test_a_sketch_passes_all_conformance_tests():
    assert failures(Sketched) == []


def test_a_product_of_a_block_has_other_bits_than_that_of_a_client():
    assert failures(Multiplied, ["blocks"]) == ["blocks"]
