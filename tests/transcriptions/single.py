"""SVRP-GD (Khaled & Jin 2023), CE-LGD (Patel et al. 2022) and SONATA (Sun et al. 2022)."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


def full_gradient(run, x):
    return sum(run.G(j, x) for j in range(run.m)) / run.m


@transcription("svrp-gd")
def svrp(run, lr, eta, p):
    x = w = run.x0
    for t in range(run.T):
        i = run.random_client(t)
        v = x - eta * (full_gradient(run, w) - run.G(i, w))
        y = x
        for _ in range(run.K):  # gradient descent on f_i(y) + 1/(2 eta) |y - v|^2
            y = y - lr * (run.G(i, y) + 1 / eta * (y - v))
        x = y
        if run.server_rng(t).random() < p:
            w = x
        yield x


@transcription("ce-lgd")
def ce_lgd(run, lr, b):
    x = x_before = run.x0
    v = full_gradient(run, x)
    for t in range(run.T):
        if t > 0:
            v = full_gradient(run, x) + (1 - b) * (v - full_gradient(run, x_before))
        i = run.random_client(t)
        u, y_before, y = v, x, x
        for k in range(run.K):
            u = u + run.g(t, k, i, y) - run.g(t, k, i, y_before)
            y_before, y = y, y - lr * u
        x_before, x = x, y
        yield x


def weights(graph, m):
    """Metropolis weights of the complete graph or the ring."""
    if graph == "complete":
        neighbours = {i: [j for j in range(m) if j != i] for i in range(m)}
    else:  # ring
        neighbours = {i: [(i - 1) % m, (i + 1) % m] for i in range(m)}
    W = np.zeros((m, m))
    for i in range(m):
        for j in neighbours[i]:
            W[i, j] = 1 / (1 + max(len(neighbours[i]), len(neighbours[j])))
        W[i, i] = 1 - W[i].sum()
    return W


@transcription("sonata")
def sonata(run, tau, step, graph):
    m = run.m
    W = weights(graph, m)
    x = [run.x0] * m
    q = [run.G(i, x[i]) for i in range(m)]
    for _ in range(run.T):
        half = []
        for i in range(m):
            # minimiser of f_i(y) + <q_i - G_i(x_i), y - x_i> + tau/2 |y - x_i|^2
            y = run.prox(i, x[i] - (q[i] - run.G(i, x[i])) / tau, tau)
            half.append(x[i] + step * (y - x[i]))
        new = [sum(W[i, j] * half[j] for j in range(m)) for i in range(m)]
        tracked = [q[j] + run.G(j, new[j]) - run.G(j, x[j]) for j in range(m)]
        q = [sum(W[i, j] * tracked[j] for j in range(m)) for i in range(m)]
        x = new
        yield sum(x) / m
