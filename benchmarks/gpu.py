"""A local step of ten clients on a GPU: all minibatches in one pass against torch's own convolutions in that pass, and
against one client after another, there and on a core of the processor. Ratios of medians in one run. Usage:

    python benchmarks/gpu.py [--architecture lenet] [--batch 50]
"""

import argparse
import contextlib
import statistics
import sys
import time
from unittest import mock

import numpy as np
import torch
from torch import nn

from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.networks import stacked
from fedatlas.federation.networks.network import Network
from fedatlas.federation.networks.samples import Samples

CLIENTS, SAMPLES, REPEATS = 10, 5000, 5


def problem(architecture: str, device: str) -> Network:
    """A network on random images of CIFAR-10's shape."""
    rng = np.random.default_rng(0)
    X = rng.integers(256, size=(SAMPLES, 3, 32, 32)).astype(np.uint8)
    samples = Samples(X, rng.integers(10, size=SAMPLES), 128, 1 / 64, device=device)

    def build() -> nn.Module:
        return ARCHITECTURES.build(architecture).build((3, 32, 32), 10)

    return Network(samples, build, device=device)


def milliseconds(network: Network, way: str, batch: int, steps: int) -> float:
    """Median time of a step, with its samples gathered."""
    rng = np.random.default_rng(1)
    y = torch.stack([network.start(seed) for seed in range(CLIENTS)])
    times = []
    for repeat in range(REPEATS + 1):
        began = time.perf_counter()
        for _ in range(steps):
            rows = network.batch(np.arange(CLIENTS), rng.integers(SAMPLES, size=(CLIENTS, batch)))
            getattr(rows, way)(y)
        if y.is_cuda:
            torch.cuda.synchronize()
        if repeat:  # the first repeat records the CUDA graph
            times.append((time.perf_counter() - began) / steps * 1e3)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--architecture", default="lenet")
    parser.add_argument("--batch", type=int, default=50)
    given = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("benchmarks/gpu.py: torch finds no CUDA device on this machine")
    torch.set_num_threads(1)
    on_gpu, on_core = problem(given.architecture, "cuda"), problem(given.architecture, "cpu")
    together = milliseconds(on_gpu, "_in_one_pass", given.batch, 100)
    one_by_one = milliseconds(on_gpu, "_one_by_one", given.batch, 10)
    with mock.patch.object(stacked, "Convolutions", contextlib.nullcontext):
        grouped = milliseconds(problem(given.architecture, "cuda"), "_in_one_pass", given.batch, 100)
    core = milliseconds(on_core, "_one_by_one", given.batch, 2)
    print(
        f"{given.architecture}, batches of {given.batch}: {torch.cuda.get_device_name()}, {together:.2f} ms in one pass"
    )
    print(f"with torch's own convolutions {grouped / together:.2f} times")
    print(f"one client after another there {one_by_one / together:.1f} times, on a core {core / together:.1f} times")


if __name__ == "__main__":
    main()
