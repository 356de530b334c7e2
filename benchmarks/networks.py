"""Rounds of FedAvg and FedSPS against plain torch loops, in one run: 10 clients x batch 20 on MNIST-shaped random data.

    python benchmarks/networks.py [--repeats 7] [--rounds 10] [--steps 5 30]

LeNet: the engine with 1 and 2 threads against loops over clients of module and ``torch.optim.SGD``, with 1 and 2
intra-op threads; batches come by index, or from a DataLoader of each client; and against as many multiplications and
additions in torch's products of large matrices, on one thread. Softmax regression: the engine in float64
and float32 against rounds of FedAvg in NumPy, all clients in one array, against the bare matrix products of their
gradients, and against the same loops of torch; three of five pixels are background, as in MNIST. Evaluations: loss and
accuracy on all rows by compiled passes, against the module's own forward passes. The ways take turns, so that a busy
machine slows all of them; times are medians on the wall and least times of the processors, ratios are printed.
"""

import argparse
import functools
import itertools
import os
import statistics
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.engine import resources
from fedatlas.federation.engine.setting import Setting
from fedatlas.federation.engine.simulation import Simulation
from fedatlas.federation.networks.network import Network
from fedatlas.federation.networks.samples import Samples
from fedatlas.federation.problems.softmax import Softmax

CLIENTS, BATCH, ROWS, LR = 10, 20, 20_000, 0.1
LAYERS = (6 * 28 * 28 * 25, 16 * 10 * 10 * 150, 400 * 120, 120 * 84, 84 * 10)  # products of numbers in LeNet, an image
SIDE = 512  # of large matrices


def data():
    rng = np.random.default_rng(0)
    return rng.integers(256, size=(ROWS, 1, 28, 28)).astype(np.uint8), rng.integers(10, size=ROWS)


def engine(problem, rounds, steps, threads, algorithm="fedavg"):
    """A function that runs rounds in the engine."""
    setting = Setting(clients=CLIENTS, local_steps=steps, rounds=rounds, batch=BATCH, eval_rounds=rounds)
    made = ALGORITHMS.create(algorithm, {"lr": LR} if algorithm == "fedavg" else {})

    def run():
        simulation = Simulation(made, problem, setting, threads=threads)
        with resources.pool(threads) as pool:
            began = time.perf_counter()  # on the wall, since the seconds of a run add up those of all threads
            for _ in range(rounds):
                simulation.run_round(pool)
            return time.perf_counter() - began

    return run


def torch_loop(kind, rounds, steps, threads, loaders=False):
    """A function that runs rounds of FedAvg as one would write them with torch alone, on float32 images."""
    X, y = data()
    X, y = (torch.from_numpy(X).float() - 127.5) / 73.9, torch.from_numpy(y)
    module = ARCHITECTURES.build(kind).build((1, 28, 28), 10)
    optimiser = torch.optim.SGD(module.parameters(), lr=LR)
    parameters = list(module.parameters())
    draws = torch.Generator().manual_seed(0)
    share = ROWS // CLIENTS
    parts = [TensorDataset(X[i * share : (i + 1) * share], y[i * share : (i + 1) * share]) for i in range(CLIENTS)]
    clients = [DataLoader(part, batch_size=BATCH, shuffle=True, generator=draws) for part in parts]

    def batches(client):
        if loaders:
            yield from itertools.islice(clients[client], steps)
        else:
            for _ in range(steps):
                rows = torch.randint(ROWS, (BATCH,), generator=draws)
                yield X[rows], y[rows]

    def run():
        torch.set_num_threads(threads)
        began = time.perf_counter()
        start = [p.detach().clone() for p in parameters]
        for _ in range(rounds):
            total = [torch.zeros_like(p) for p in start]
            for client in range(CLIENTS):
                with torch.no_grad():
                    for p, value in zip(parameters, start, strict=True):
                        p.copy_(value)
                for data, labels in batches(client):
                    optimiser.zero_grad()
                    F.cross_entropy(module(data), labels).backward()
                    optimiser.step()
                for part, p in zip(total, parameters, strict=True):
                    part += p.detach()
            start = [part / CLIENTS for part in total]
        return time.perf_counter() - began

    return run


def numpy_rounds(problem, rounds, steps):
    """A function that runs rounds of FedAvg as one would write them with NumPy, all clients in one array."""
    A, y, p = problem.A, problem.y, problem.features
    one_hot = np.eye(10, dtype=A.dtype)
    draws = np.random.default_rng(0)

    def run():
        began = time.perf_counter()
        x = np.zeros(problem.dim, A.dtype)
        for _ in range(rounds):
            points = np.repeat(x[None], CLIENTS, axis=0)
            for _ in range(steps):
                rows = draws.integers(ROWS, size=(CLIENTS, BATCH))
                a, W, c = A[rows], points[:, : 10 * p].reshape(CLIENTS, 10, p), points[:, None, 10 * p :]
                z = a @ W.swapaxes(1, 2) + c
                z = np.exp(z - z.max(axis=2, keepdims=True))
                z = (z / z.sum(axis=2, keepdims=True) - one_hot[y[rows]]) / BATCH
                W -= LR * (z.swapaxes(1, 2) @ a)
                c -= LR * z.sum(axis=1, keepdims=True)
            x = points.mean(axis=0)
        return time.perf_counter() - began

    return run


def products(problem, rounds, steps):
    """A function that does nothing but the matrix products that the gradients of so many softmax rounds need."""
    rng = np.random.default_rng(0)
    a = rng.random((CLIENTS, BATCH, problem.features)).astype(problem.dtype)
    W = rng.random((CLIENTS, 10, problem.features)).astype(problem.dtype)
    p, out = rng.random((CLIENTS, BATCH, 10)).astype(problem.dtype), np.empty_like(W)

    def run():
        began = time.perf_counter()
        for _ in range(rounds * steps):
            np.matmul(a, W.swapaxes(1, 2))
            np.matmul(p.swapaxes(1, 2), a, out=out)
        return time.perf_counter() - began

    return run


def large_products(rounds, steps):
    """A function that multiplies large matrices, with as many products of numbers as gradients of LeNet have."""
    a, b = torch.rand(SIDE, SIDE), torch.rand(SIDE, SIDE)
    image = 3 * sum(LAYERS) - LAYERS[0]  # forward, and for weights and inputs, but for those of the first layer
    count = max(1, round(CLIENTS * BATCH * rounds * steps * image / SIDE**3))

    def run():
        began = time.perf_counter()
        for _ in range(count):
            torch.mm(a, b)
        return time.perf_counter() - began

    return run


def evaluations(problem):
    """Functions that evaluate a network on all rows, by compiled passes and by the module itself."""
    x, passes = problem.start(0), problem.replica.passes

    def evaluate(chosen):
        began = time.perf_counter()
        problem.replica.passes = chosen
        problem.evaluate(x)
        problem.replica.passes = passes
        return time.perf_counter() - began

    return {"torch": lambda: evaluate(None), "fedatlas": lambda: evaluate(passes)}


def measure(ways, repeats, rounds):
    """Milliseconds a round of each way, taking turns: median on the wall, and least of the processors.

    The first turn is not counted.
    """
    walls: dict[str, list[float]] = {name: [] for name in ways}
    processors: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repeats + 1):
        for name, run in ways.items():
            began = time.process_time()
            walls[name].append(run() / rounds * 1e3)
            processors[name].append((time.process_time() - began) / rounds * 1e3)
    return {name: (statistics.median(walls[name][1:]), min(processors[name][1:])) for name in ways}


def report(title, times, base):
    print(f"\n{title}: ms on the wall and of the processors, and how many times less than {base!r}", flush=True)
    for name, (wall, processor) in times.items():
        ratios = f"{times[base][0] / wall:7.2f}x {times[base][1] / processor:7.2f}x"
        print(f"  {name:34} {wall:8.2f} {processor:8.2f} {ratios}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--steps", type=int, nargs="+", default=[5, 30])
    given = parser.parse_args()
    X, y = data()
    train = Samples(X, y, 127.5, 1 / 73.9)
    background = np.random.default_rng(1).random((ROWS, 98)) < 0.6
    pixels = np.where(background.repeat(8, axis=1), 0, X.reshape(ROWS, -1)).astype(np.uint8)
    lenet = Network(train, lambda: ARCHITECTURES.build("lenet").build((1, 28, 28), 10), eval_samples=100)
    softmax = {
        dtype: Softmax(pixels / 255, y, 10, dtype=dtype, pixels=(pixels, 255.0)) for dtype in ("float64", "float32")
    }
    torch.set_num_threads(1)
    for kind in ("lenet", "linear", {"kind": "mlp", "hidden": [32]}, {"kind": "mlp", "hidden": [200]}):
        network = Network(
            train, functools.partial(ARCHITECTURES.build(kind).build, (1, 28, 28), 10), eval_samples="all"
        )
        report(f"Evaluation of {kind} on {ROWS} rows", measure(evaluations(network), given.repeats, 1), "torch")
    for steps in given.steps:
        rounds = max(1, given.rounds * 5 // steps)
        ways = {f"torch loop, {n} intra-op": torch_loop("lenet", rounds, steps, n) for n in (1, 2)}
        ways["torch loop, 2 intra-op, DataLoaders"] = torch_loop("lenet", rounds, steps, 2, loaders=True)
        ways |= {f"fedatlas, {n} threads": engine(lenet, rounds, steps, n) for n in (1, 2)}
        ways["fedatlas, FedSPS, 2 threads"] = engine(lenet, rounds, steps, 2, "fedsps")
        ways["large products alone"] = large_products(rounds, steps)
        report(f"LeNet, {steps} local steps", measure(ways, given.repeats, rounds), "torch loop, 2 intra-op")

        rounds *= 5
        ways = {"torch loop, float32": torch_loop("linear", rounds, steps, 1)}
        ways["torch loop, float32, DataLoaders"] = torch_loop("linear", rounds, steps, 1, loaders=True)
        for dtype, problem in softmax.items():
            ways[f"NumPy, {dtype}"] = numpy_rounds(problem, rounds, steps)
            ways[f"matrix products alone, {dtype}"] = products(problem, rounds, steps)
            ways |= {f"fedatlas, {dtype}, {n} threads": engine(problem, rounds, steps, n) for n in (1, 2)}
        ways["fedatlas, FedSPS, float32"] = engine(softmax["float32"], rounds, steps, 1, "fedsps")
        report(f"Softmax regression, {steps} local steps", measure(ways, given.repeats, rounds), "NumPy, float64")


if __name__ == "__main__":
    main()
