"""Methods for clients that come and go: reweighted FedAvg, MIFA and FedVARP."""

import numpy as np

from . import twin


def local(world, lr, t, i, x):
    """Client i's change of x in round t: K local steps."""
    y = x
    for k in range(world.K):
        y = y - lr * world.g(t, k, i, y)
    return y - x


@twin("fedavg-all")
def fedavg_all(world, lr, server_lr):
    x = world.x0
    for t in range(world.T):
        x = x + server_lr * sum(local(world, lr, t, i, x) for i in world.S(t)) / world.m
        yield x


@twin("fedavg-known-p")
def fedavg_known_p(world, lr, server_lr):
    x = world.x0
    for t in range(world.T):
        x = x + server_lr * sum(local(world, lr, t, i, x) / world.p(t)[i] for i in world.S(t)) / world.m
        yield x


@twin("fedau")
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


@twin("f3ast")
def f3ast(world, lr, server_lr, beta, r0):
    # Ribero et al. 2022, Algorithm 1, where whoever is available is selected
    x = world.x0
    r = [r0] * world.m
    for t in range(world.T):
        active = world.S(t)
        for i in range(world.m):
            r[i] = (1 - beta) * r[i] + beta * (i in active)
        x = x + server_lr * sum(1 / world.m / r[i] * local(world, lr, t, i, x) for i in active)
        yield x


@twin("mifa")
def mifa(world, lr, server_lr):
    # Gu et al. 2021, Algorithm 1
    x = world.x0
    G = [np.zeros_like(x) for _ in range(world.m)]
    for t in range(world.T):
        for i in world.S(t):
            G[i] = -local(world, lr, t, i, x) / lr
        x = x - server_lr * lr * sum(G) / world.m
        yield x


@twin("fedvarp")
def fedvarp(world, lr, server_lr):
    # Jhunjhunwala et al. 2022, Algorithm 1; without anybody there is nothing to average
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
