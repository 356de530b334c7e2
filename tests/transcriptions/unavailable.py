"""Methods for clients that are not always available: FedAvg with other weights, MIFA and FedVARP."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


def local(run, lr, t, i, x):
    """The change of x by K local steps of client i in round t."""
    y = x
    for k in range(run.K):
        y = y - lr * run.g(t, k, i, y)
    return y - x


@transcription("fedavg-all")
def fedavg_all(run, lr, server_lr):
    x = run.x0
    for t in range(run.T):
        x = x + server_lr * sum(local(run, lr, t, i, x) for i in run.S(t)) / run.m
        yield x


@transcription("fedavg-known-p")
def fedavg_known_p(run, lr, server_lr):
    x = run.x0
    for t in range(run.T):
        x = x + server_lr * sum(local(run, lr, t, i, x) / run.p(t)[i] for i in run.S(t)) / run.m
        yield x


@transcription("fedau")
def fedau(run, lr, server_lr, cutoff):
    # Wang & Ji 2024, Algorithms 1 and 2
    x = run.x0
    omega, M, S = [1.0] * run.m, [0] * run.m, [0] * run.m
    for t in range(run.T):
        active = run.S(t)
        x = x + server_lr * sum(omega[i] * local(run, lr, t, i, x) for i in active) / run.m
        for i in range(run.m):
            S[i] += 1
            if i in active or S[i] == cutoff:
                omega[i] = S[i] if M[i] == 0 else (M[i] * omega[i] + S[i]) / (M[i] + 1)
                M[i] += 1
                S[i] = 0
        yield x


@transcription("f3ast")
def f3ast(run, lr, server_lr, beta, r0):
    # Ribero et al. 2022, Algorithm 1, where all available clients are selected
    x = run.x0
    r = [1 if r0 == "p" else r0] * run.m
    history = set()
    for t in range(run.T):
        active = run.S(t)
        for i in set(active) - history:
            if r0 == "p":
                r[i] = run.p(t)[i]
        history |= set(active)
        for i in range(run.m):
            r[i] = (1 - beta) * r[i] + beta * (i in active)
        x = x + server_lr * sum(1 / run.m / r[i] * local(run, lr, t, i, x) for i in active)
        yield x


@transcription("mifa")
def mifa(run, lr, server_lr):
    # Gu et al. 2021, Algorithm 1
    x = run.x0
    G = [np.zeros_like(x) for _ in range(run.m)]
    for t in range(run.T):
        for i in run.S(t):
            G[i] = -local(run, lr, t, i, x) / lr
        x = x - server_lr * lr * sum(G) / run.m
        yield x


@transcription("fedvarp")
def fedvarp(run, lr, server_lr):
    # Jhunjhunwala et al. 2022, Algorithm 1; without active clients there is no mean
    x = run.x0
    y = [np.zeros_like(x) for _ in range(run.m)]
    for t in range(run.T):
        active = run.S(t)
        if len(active):
            changes = {i: local(run, lr, t, i, x) for i in active}
            v = sum(changes[i] - y[i] for i in active) / len(active) + sum(y) / run.m
            x = x + server_lr * v
            for i in active:
                y[i] = changes[i]
        yield x
