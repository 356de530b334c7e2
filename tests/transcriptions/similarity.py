"""DANE and DANE+ (Jiang et al. 2024, Algorithm 1), FedRed (Algorithms 2 and 3), Scaffnew (Mishchenko et al. 2022)."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


def variates(world, x):
    """Control variate (1): h_i = grad f_i(x) - grad f(x)."""
    G = [world.G(i, x) for i in range(world.m)]
    mean = sum(G) / world.m
    return [G_i - mean for G_i in G]


def average(world, t, models, averaging):
    return models[world.drawn(t)] if averaging == "random" else sum(models) / world.m


@transcription("dane")
def dane(world, lam, averaging):
    x = world.x0
    for t in range(world.T):
        h = variates(world, x)
        # f_i(y) - <y, h_i> + lam/2 |y - x|^2 equals f_i(y) + lam/2 |y - (x + h_i/lam)|^2 up to a constant
        x = average(world, t, [world.prox(i, x + h[i] / lam, lam) for i in range(world.m)], averaging)
        yield x


@transcription("dane+-gd", "dane+-fgd")
def dane_plus(world, lam, averaging, lr, mu, max_steps):
    fast = world.name == "dane+-fgd"
    x = world.x0
    for r in range(world.T):
        h = variates(world, x)
        models = []
        for i in range(world.m):

            def grad_F(y, i=i, h=h, x=x):
                return world.G(i, y) - h[i] + lam * (y - x)

            y = z = x
            for _ in range(max_steps):
                y_next = z - lr * grad_F(z)
                if fast:
                    kappa = 1 / (lr * (mu + lam))
                    z = y_next + (np.sqrt(kappa) - 1) / (np.sqrt(kappa) + 1) * (y_next - y)
                else:
                    z = y_next
                y = y_next
                bound = lam * (mu + lam) / (8 * (r + 1) * (r + 2)) * ((z - x) ** 2).sum()
                if (grad_F(z) ** 2).sum() <= bound:
                    break
            models.append(z)
        x = average(world, r, models, averaging)
        yield x


@transcription("dane+-gd-least")
def dane_plus_least(world, lam, averaging, lr, solver_steps):
    x = world.x0
    for r in range(world.T):
        h = variates(world, x)
        models = []
        for i in range(world.m):
            path = [x]
            for _ in range(solver_steps):
                path.append(path[-1] - lr * (world.G(i, path[-1]) - h[i] + lam * (path[-1] - x)))
            sizes = [((world.G(i, y) - h[i] + lam * (y - x)) ** 2).sum() for y in path]
            models.append(path[int(np.argmin(sizes))])
        x = average(world, r, models, averaging)
        yield x


@transcription("dane+-sgd")
def dane_plus_sgd(world, lam, averaging, lr):
    x = world.x0
    for t in range(world.T):
        h = variates(world, x)
        models = []
        for i in range(world.m):
            y = x
            for k in range(world.K):
                y = y - lr * (world.g(t, k, i, y) - h[i] + lam * (y - x))
            models.append(y)
        x = average(world, t, models, averaging)
        yield x


@transcription("fedred", "fedred-gd", "fedred-sgd")
def fedred(world, eta, p, lam, averaging, average, mu):
    lam = p * eta if lam is None else lam
    x_tilde = world.x0
    x = [world.x0] * world.m
    weighted, weights = 0, 0
    iteration = 0
    q = 1 - mu / (2 * eta + mu) if world.name == "fedred" else 1 - mu / (2 * eta - mu)
    for t in range(world.T):
        flips = world.flips(t, p)
        for k in range(flips):
            h = variates(world, x_tilde)
            for i in range(world.m):
                if world.name == "fedred":
                    centre = (eta * x[i] + lam * x_tilde + h[i]) / (eta + lam)
                    x[i] = world.prox(i, centre, eta + lam)
                else:
                    g = world.G(i, x[i]) if world.name == "fedred-gd" else world.g(t, k, i, x[i], flips)
                    x[i] = eta / (eta + lam) * x[i] + lam / (eta + lam) * x_tilde - 1 / (eta + lam) * (g - h[i])
            iteration += 1
            weighted = weighted + sum(x) / world.m / q**iteration
            weights = weights + 1 / q**iteration
        x_tilde = x[world.drawn(t)] if averaging == "random" else sum(x) / world.m
        yield weighted / weights if average == "weighted" else x_tilde


@transcription("scaffnew")
def scaffnew(world, lr, p):
    x = [world.x0] * world.m
    h = [np.zeros_like(world.x0)] * world.m
    for t in range(world.T):
        flips = world.flips(t, p)
        for k in range(flips):
            x_hat = [x[i] - lr * (world.g(t, k, i, x[i], flips) - h[i]) for i in range(world.m)]
            theta = k == flips - 1
            x_next = [sum(x_hat) / world.m if theta else x_hat[i] for i in range(world.m)]
            h = [h[i] + p / lr * (x_next[i] - x_hat[i]) for i in range(world.m)]
            x = x_next
        yield x[0]
