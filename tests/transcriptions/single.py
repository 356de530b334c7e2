"""SVRP-GD (Khaled & Jin 2023), CE-LGD (Patel et al. 2022) and SONATA (Sun et al. 2022)."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


def full_gradient(world, x):
    return sum(world.G(j, x) for j in range(world.m)) / world.m


@transcription("svrp-gd")
def svrp(world, lr, eta, p):
    x = w = world.x0
    for t in range(world.T):
        i = world.drawn(t)
        v = x - eta * (full_gradient(world, w) - world.G(i, w))
        y = x
        for _ in range(world.K):  # gradient descent on f_i(y) + 1/(2 eta) |y - v|^2
            y = y - lr * (world.G(i, y) + 1 / eta * (y - v))
        x = y
        if world.server_draws(t).random() < p:
            w = x
        yield x


@transcription("ce-lgd")
def ce_lgd(world, lr, b):
    x = x_before = world.x0
    v = full_gradient(world, x)
    for t in range(world.T):
        if t > 0:
            v = full_gradient(world, x) + (1 - b) * (v - full_gradient(world, x_before))
        i = world.drawn(t)
        u, y_before, y = v, x, x
        for k in range(world.K):
            u = u + world.g(t, k, i, y) - world.g(t, k, i, y_before)
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
def sonata(world, tau, step, graph, link_p, graph_seed):
    m = world.m
    W = weights(graph, m)
    x = [world.x0] * m
    q = [world.G(i, x[i]) for i in range(m)]
    for _ in range(world.T):
        half = []
        for i in range(m):
            # minimiser of f_i(y) + <q_i - G_i(x_i), y - x_i> + tau/2 |y - x_i|^2
            y = world.prox(i, x[i] - (q[i] - world.G(i, x[i])) / tau, tau)
            half.append(x[i] + step * (y - x[i]))
        new = [sum(W[i, j] * half[j] for j in range(m)) for i in range(m)]
        tracked = [q[j] + world.G(j, new[j]) - world.G(j, x[j]) for j in range(m)]
        q = [sum(W[i, j] * tracked[j] for j in range(m)) for i in range(m)]
        x = new
        yield sum(x) / m
