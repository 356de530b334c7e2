"""A full gradient of five clients on FedRed's synthetic quadratics, on one core: ratios of medians in one run.

Against one product with each client's averaged matrix, and with all n m matrices A_ij, which are built for this alone.
Usage: python benchmarks/fedred.py [--dim 1000]; 50 matrices of 1000 x 1000 take 400 MB.
"""

import argparse
import os
import statistics
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np

from fedatlas.federation.problems.similar import SyntheticSimilarQuadratic


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


if __name__ == "__main__":
    main()
