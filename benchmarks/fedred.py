"""A full gradient of five clients on FedRed's problems, on one core: ratios of medians in one run.

On synthetic quadratics against one product with each client's averaged matrix, and with all n m matrices A_ij, which
are built for this alone; on sparse logistic rows, in the shapes of four data sets, against SciPy's products.
Usage: python benchmarks/fedred.py [--dim 1000]; 50 matrices of 1000 x 1000 take 400 MB.
"""

import argparse
import functools
import os
import statistics
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
from scipy import sparse

from fedatlas.federation import compiled
from fedatlas.federation.problems.logistic import WeightedBatch
from fedatlas.federation.problems.similar import SyntheticSimilarQuadratic

SHAPES = {"a9a": (32561, 123, 14), "w8a": (49749, 300, 12), "mushrooms": (8124, 112, 21), "phishing": (11055, 68, 30)}


def sparse_rows():
    """Rows of equal length on five clients, with the number of samples, features and entries of a row of data sets."""
    random = np.random.default_rng(0)
    for name, (samples, dim, entries) in SHAPES.items():
        n = samples // 5
        columns = np.sort([random.choice(dim, entries, replace=False) for _ in range(n)])
        values = np.full(columns.size, 1.0 if name != "phishing" else dim**-0.5)
        A = sparse.csr_matrix((values, columns.ravel(), np.arange(n + 1) * entries), (n, dim))
        b, weights, y = random.choice([-1.0, 1.0], n), np.full(n, 1 / n), random.standard_normal(dim)
        batch, twin = (WeightedBatch(A, b, weights, n, 1e-4, rows) for rows in (compiled.sparse_rows(A), None))
        for what in ("grad", "value_and_grad"):
            calls = (functools.partial(getattr(rows, what), y) for rows in (batch, twin))
            ours, theirs = (median(call, 101) for call in calls)
            print(f"{name:<10} {what:<15}{1e6 * ours:6.0f} us, SciPy {theirs / ours:.1f} times as long")


def median(work, repeats=15):
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dim", type=int, default=1000)
    dim = parser.parse_args().dim
    began = time.perf_counter()
    problem = SyntheticSimilarQuadratic(dim=dim).build(5)
    created = time.perf_counter() - began
    y, everyone = np.random.default_rng(0).standard_normal((5, dim)), np.arange(5)
    averaged = problem.hessians()
    V, s = problem.V, problem.spectrum - problem.mu
    every = np.stack([[A + (V * (s * e)) @ V.T for e in own] for A, own in zip(averaged, problem.e, strict=True)])
    ours = median(lambda: problem.full_batch(everyone).grad(y))
    print(f"dim {dim}: the instance takes {created:.2f} s, a gradient of all clients {1e3 * ours:.2f} ms")
    for what, matrices in (("averaged matrices", averaged), ("all A_ij", every)):
        point = y[:, None, :, None] if matrices.ndim == 4 else y[..., None]
        theirs = median(lambda matrices=matrices, point=point: np.matmul(matrices, point))
        print(f"{what + ':':<20}{1e3 * theirs:8.2f} ms, {theirs / ours:.1f} times as long")
    sparse_rows()


if __name__ == "__main__":
    main()
