"""Minibatch baselines and the FedAc family (Yuan & Ma 2020, Algorithm 1 and Section 5)."""

import math

from fedatlas.testing.transcriptions import transcription


@transcription("gd")
def gd(world, lr):
    x = world.x0
    for t in range(world.T):
        gradients = [world.G(i, x) for i in world.S(t)]
        if gradients:
            x = x - lr * sum(gradients) / len(gradients)
        yield x


@transcription("mb-sgd")
def mb_sgd(world, lr):
    x = world.x0
    for t in range(world.T):
        gradients = [world.g(t, k, i, x) for i in world.S(t) for k in range(world.K)]
        if gradients:
            x = x - lr * sum(gradients) / len(gradients)
        yield x


@transcription("mb-ac-sgd")
def mb_ac_sgd(world, lr, mu):
    w = ag = world.x0
    gamma = math.sqrt(lr / mu)
    alpha = 1 / (gamma * mu)
    beta = alpha + 1
    for t in range(world.T):
        md = w / beta + (1 - 1 / beta) * ag
        gradients = [world.g(t, k, i, md) for i in world.S(t) for k in range(world.K)]
        if gradients:
            g = sum(gradients) / len(gradients)
            ag = md - lr * g
            w = (1 - 1 / alpha) * w + md / alpha - gamma * g
        yield ag


def _fedac(world, eta, alpha, beta, gamma):
    # Algorithm 1 with one time index: t counts local steps; clients are averaged where t mod K = -1 mod K
    w = [world.x0] * world.m
    w_ag = [world.x0] * world.m
    for t in range(world.T * world.K):
        round, k = divmod(t, world.K)
        S = world.S(round)
        v, v_ag = {}, {}
        for m in S:
            w_md = w[m] / beta + (1 - 1 / beta) * w_ag[m]
            g = world.g(round, k, m, w_md)
            v_ag[m] = w_md - eta * g
            v[m] = (1 - 1 / alpha) * w[m] + w_md / alpha - gamma * g
        if (t + 1) % world.K == 0:
            if len(S):
                w = [sum(v.values()) / len(S)] * world.m
                w_ag = [sum(v_ag.values()) / len(S)] * world.m
            yield w_ag[0]
        else:
            for m in S:
                w[m], w_ag[m] = v[m], v_ag[m]


@transcription("fedac-1")
def fedac_1(world, lr, mu):
    gamma = max(math.sqrt(lr / (mu * world.K)), lr)
    alpha = 1 / (gamma * mu)
    return _fedac(world, lr, alpha, alpha + 1, gamma)


@transcription("fedac-2")
def fedac_2(world, lr, mu, beta):
    gamma = max(math.sqrt(lr / (mu * world.K)), lr)
    alpha = 3 / (2 * gamma * mu) - 0.5
    betas = {"printed": (2 * alpha**2 - 1) / (alpha - 1), "code": 2 * alpha**2 / (alpha - 1)}
    return _fedac(world, lr, alpha, betas[beta], gamma)


@transcription("fedac-vanilla")
def fedac_vanilla(world, lr, mu):
    gamma = math.sqrt(lr / mu)
    alpha = 1 / (gamma * mu)
    return _fedac(world, lr, alpha, alpha + 1, gamma)
