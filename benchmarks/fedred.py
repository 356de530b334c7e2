"""A full gradient of five clients on FedRed's problems, on one core: ratios of medians in one run.

On synthetic quadratics against one product with each client's averaged matrix, and with all n m matrices A_ij, which
are built for this alone; on sparse logistic rows, in the shapes of four data sets, against SciPy's products; of softmax
regression on images in the shape of MNIST, three of five pixels background, against matrix products. Then rounds of
DANE+-GD with 20 clients, side by side against one client after another.
Usage: python benchmarks/fedred.py [--dim 1000]; 50 matrices of 1000 x 1000 take 400 MB.
"""

import argparse
import dataclasses
import functools
import os
import statistics
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
from scipy import sparse

from fedatlas.federation import compiled
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.problems.logistic import WeightedBatch
from fedatlas.federation.problems.quadratic import SyntheticQuadratic
from fedatlas.federation.problems.similar import SyntheticSimilarQuadratic
from fedatlas.federation.problems.softmax import CompiledBatch, Softmax, SoftmaxBatch

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


def images():
    """A full gradient of softmax regression on 3,000 images, and gradients of two clients' minibatches of 7,500."""
    random = np.random.default_rng(0)
    pixels = random.integers(1, 256, (20_000, 784)) * (random.random((20_000, 98)) < 0.4).repeat(8, axis=1)
    labels = random.integers(10, size=len(pixels))
    problem = Softmax(pixels / 255, labels, 10, l2=1e-4, pixels=(pixels.astype(np.uint8), 255.0))
    y = random.standard_normal((2, problem.dim))
    full, drawn = np.arange(3000)[None], random.integers(len(pixels), size=(2, 7500))
    counts = [np.bincount(draws, minlength=len(pixels)) / 7500 for draws in drawn]
    rows = SoftmaxBatch(problem, problem.A[full], labels[full])
    weighted = [SoftmaxBatch(problem, problem.A[None], labels[None], weights[None]) for weights in counts]
    for what, index, points, products in (
        ("full gradient", full, y[:1], [rows]),
        ("minibatches", drawn, y, weighted),
    ):
        batch, pairs = CompiledBatch(problem, index, None), list(zip(products, points, strict=True))
        ours = median(functools.partial(batch.grad, points), 9)
        theirs = median(lambda pairs=pairs: [product.grad(v) for product, v in pairs], 5)
        print(f"softmax, {what:<15}{1e3 * ours:6.1f} ms, matrix products {theirs / ours:.1f} times as long")


def run(algorithm, problem, setting, block):
    return Simulation(algorithm, problem, setting, block=block).run()


def side_by_side():
    """Rounds of DANE+-GD of at most 20 local steps on quadratics, exact and with means of 160 noisy gradients."""
    algorithm = ALGORITHMS.create("dane+-gd", {"lam": 2.0, "lr": 0.1, "max_steps": 20})
    common = Setting(clients=20, rounds=20, eval_rounds=20, local_steps=10)
    noisy = dataclasses.replace(common, batch=16, full_gradients="minibatch")
    for what, noise, setting in (("exact", 0.0, common), ("minibatches", 1.0, noisy)):
        problem = SyntheticQuadratic(dim=50, mu=0.05, L=5.0, similarity=0.5, heterogeneity=1.0, noise=noise).build(20)
        runs = (functools.partial(run, algorithm, problem, setting, block) for block in (None, 1))
        ours, theirs = (median(call, 5) for call in runs)
        print(f"DANE+-GD, {what:<14}{1e3 * ours:6.1f} ms, one client after another {theirs / ours:.1f} times as long")


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
    images()
    side_by_side()


if __name__ == "__main__":
    main()
