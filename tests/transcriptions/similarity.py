"""DANE and DANE+ (Jiang et al. 2024, Algorithm 1), FedRed (Algorithms 2 and 3), Scaffnew (Mishchenko et al. 2022)."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


def variates(run, x):
    """Control variate (1): h_i = grad f_i(x) - grad f(x)."""
    G = [run.G(i, x) for i in range(run.m)]
    mean = sum(G) / run.m
    return [G_i - mean for G_i in G]


def average(run, t, models, averaging):
    return models[run.random_client(t)] if averaging == "random" else sum(models) / run.m


@transcription("dane")
def dane(run, lam, averaging):
    x = run.x0
    for t in range(run.T):
        h = variates(run, x)
        # f_i(y) - <y, h_i> + lam/2 |y - x|^2 equals f_i(y) + lam/2 |y - (x + h_i/lam)|^2 up to a constant
        x = average(run, t, [run.prox(i, x + h[i] / lam, lam) for i in range(run.m)], averaging)
        yield x


@transcription("dane+-gd", "dane+-fgd")
def dane_plus(run, lam, averaging, lr, mu, max_steps):
    fast = run.name == "dane+-fgd"
    x = run.x0
    for r in range(run.T):
        h = variates(run, x)
        models = []
        for i in range(run.m):

            def grad_F(y, i=i, h=h, x=x):
                return run.G(i, y) - h[i] + lam * (y - x)

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
        x = average(run, r, models, averaging)
        yield x


@transcription("dane+-gd-least")
def dane_plus_least(run, lam, averaging, lr, solver_steps):
    x = run.x0
    for r in range(run.T):
        h = variates(run, x)
        models = []
        for i in range(run.m):
            path = [x]
            for _ in range(solver_steps):
                path.append(path[-1] - lr * (run.G(i, path[-1]) - h[i] + lam * (path[-1] - x)))
            sizes = [((run.G(i, y) - h[i] + lam * (y - x)) ** 2).sum() for y in path]
            models.append(path[int(np.argmin(sizes))])
        x = average(run, r, models, averaging)
        yield x


@transcription("dane+-sgd")
def dane_plus_sgd(run, lam, averaging, lr):
    x = run.x0
    for t in range(run.T):
        h = variates(run, x)
        models = []
        for i in range(run.m):
            y = x
            for k in range(run.K):
                y = y - lr * (run.g(t, k, i, y) - h[i] + lam * (y - x))
            models.append(y)
        x = average(run, t, models, averaging)
        yield x


@transcription("fedred", "fedred-gd", "fedred-sgd")
def fedred(run, eta, p, lam, averaging, average, mu):
    lam = p * eta if lam is None else lam
    x_tilde = run.x0
    x = [run.x0] * run.m
    weighted, weights = 0, 0
    iteration = 0
    q = 1 - mu / (2 * eta + mu) if run.name == "fedred" else 1 - mu / (2 * eta - mu)
    for t in range(run.T):
        flips = run.geometric(t, p)
        for k in range(flips):
            h = variates(run, x_tilde)
            for i in range(run.m):
                if run.name == "fedred":
                    centre = (eta * x[i] + lam * x_tilde + h[i]) / (eta + lam)
                    x[i] = run.prox(i, centre, eta + lam)
                else:
                    g = run.G(i, x[i]) if run.name == "fedred-gd" else run.g(t, k, i, x[i], flips)
                    x[i] = eta / (eta + lam) * x[i] + lam / (eta + lam) * x_tilde - 1 / (eta + lam) * (g - h[i])
            iteration += 1
            weighted = weighted + sum(x) / run.m / q**iteration
            weights = weights + 1 / q**iteration
        x_tilde = x[run.random_client(t)] if averaging == "random" else sum(x) / run.m
        yield weighted / weights if average == "weighted" else x_tilde


@transcription("scaffnew")
def scaffnew(run, lr, p):
    x = [run.x0] * run.m
    h = [np.zeros_like(run.x0)] * run.m
    for t in range(run.T):
        flips = run.geometric(t, p)
        for k in range(flips):
            x_hat = [x[i] - lr * (run.g(t, k, i, x[i], flips) - h[i]) for i in range(run.m)]
            theta = k == flips - 1
            x_next = [sum(x_hat) / run.m if theta else x_hat[i] for i in range(run.m)]
            h = [h[i] + p / lr * (x_next[i] - x_hat[i]) for i in range(run.m)]
            x = x_next
        yield x[0]
