"""Methods for clients that are not always available: FedAvg with other weights, MIFA and FedVARP."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


def local(world, lr, t, i, x):
    """The change of x by K local steps of client i in round t."""
    y = x
    for k in range(world.K):
        y = y - lr * world.g(t, k, i, y)
    return y - x


@transcription("fedavg-all")
def fedavg_all(world, lr, server_lr):
    x = world.x0
    for t in range(world.T):
        x = x + server_lr * sum(local(world, lr, t, i, x) for i in world.S(t)) / world.m
        yield x


@transcription("fedavg-known-p")
def fedavg_known_p(world, lr, server_lr):
    x = world.x0
    for t in range(world.T):
        x = x + server_lr * sum(local(world, lr, t, i, x) / world.p(t)[i] for i in world.S(t)) / world.m
        yield x


@transcription("fedau")
def fedau(world, lr, server_lr, cutoff):
    # Wang & Ji 2024, Algorithms 1 and 2
    x = world.x0
    omega, M, S = [1.0] * world.m, [0] * world.m, [0] * world.m
    for t in range(world.T):
        active = world.S(t)
        x = x + server_lr * sum(omega[i] * local(world, lr, t, i, x) for i in active) / world.m
        for i in range(world.m):
            S[i] += 1
            if i in active or S[i] == cutoff:
                omega[i] = S[i] if M[i] == 0 else (M[i] * omega[i] + S[i]) / (M[i] + 1)
                M[i] += 1
                S[i] = 0
        yield x


@transcription("f3ast")
def f3ast(world, lr, server_lr, beta, r0):
    # Ribero et al. 2022, Algorithm 1, where all available clients are selected
    x = world.x0
    r = [1 if r0 == "p" else r0] * world.m
    seen = set()
    for t in range(world.T):
        active = world.S(t)
        for i in set(active) - seen:
            if r0 == "p":
                r[i] = world.p(t)[i]
        seen |= set(active)
        for i in range(world.m):
            r[i] = (1 - beta) * r[i] + beta * (i in active)
        x = x + server_lr * sum(1 / world.m / r[i] * local(world, lr, t, i, x) for i in active)
        yield x


@transcription("mifa")
def mifa(world, lr, server_lr):
    # Gu et al. 2021, Algorithm 1
    x = world.x0
    G = [np.zeros_like(x) for _ in range(world.m)]
    for t in range(world.T):
        for i in world.S(t):
            G[i] = -local(world, lr, t, i, x) / lr
        x = x - server_lr * lr * sum(G) / world.m
        yield x


@transcription("fedvarp")
def fedvarp(world, lr, server_lr):
    # Jhunjhunwala et al. 2022, Algorithm 1; without active clients there is no mean
    x = world.x0
    y = [np.zeros_like(x) for _ in range(world.m)]
    for t in range(world.T):
        active = world.S(t)
        if len(active):
            changes = {i: local(world, lr, t, i, x) for i in active}
            v = sum(changes[i] - y[i] for i in active) / len(active) + sum(y) / world.m
            x = x + server_lr * v
            for i in active:
                y[i] = changes[i]
        yield x
