"""Minibatch baselines and the FedAc family (Yuan & Ma 2020, Algorithm 1 and Section 5)."""

import math

from fedatlas.testing.transcriptions import transcription


@transcription("gd")
def gd(run, lr):
    x = run.x0
    for t in range(run.T):
        gradients = [run.G(i, x) for i in run.S(t)]
        if gradients:
            x = x - lr * sum(gradients) / len(gradients)
        yield x


@transcription("mb-sgd")
def mb_sgd(run, lr):
    x = run.x0
    for t in range(run.T):
        gradients = [run.g(t, k, i, x) for i in run.S(t) for k in range(run.K)]
        if gradients:
            x = x - lr * sum(gradients) / len(gradients)
        yield x


@transcription("mb-ac-sgd")
def mb_ac_sgd(run, lr, mu):
    w = ag = run.x0
    gamma = math.sqrt(lr / mu)
    alpha = 1 / (gamma * mu)
    beta = alpha + 1
    for t in range(run.T):
        md = w / beta + (1 - 1 / beta) * ag
        gradients = [run.g(t, k, i, md) for i in run.S(t) for k in range(run.K)]
        if gradients:
            g = sum(gradients) / len(gradients)
            ag = md - lr * g
            w = (1 - 1 / alpha) * w + md / alpha - gamma * g
        yield ag


def _fedac(run, eta, alpha, beta, gamma):
    # Algorithm 1 with one time index: t counts local steps; clients are averaged where t mod K = -1 mod K
    w = [run.x0] * run.m
    w_ag = [run.x0] * run.m
    for t in range(run.T * run.K):
        round, k = divmod(t, run.K)
        S = run.S(round)
        v, v_ag = {}, {}
        for m in S:
            w_md = w[m] / beta + (1 - 1 / beta) * w_ag[m]
            g = run.g(round, k, m, w_md)
            v_ag[m] = w_md - eta * g
            v[m] = (1 - 1 / alpha) * w[m] + w_md / alpha - gamma * g
        if (t + 1) % run.K == 0:
            if len(S):
                w = [sum(v.values()) / len(S)] * run.m
                w_ag = [sum(v_ag.values()) / len(S)] * run.m
            yield w_ag[0]
        else:
            for m in S:
                w[m], w_ag[m] = v[m], v_ag[m]


@transcription("fedac-1")
def fedac_1(run, lr, mu):
    gamma = max(math.sqrt(lr / (mu * run.K)), lr)
    alpha = 1 / (gamma * mu)
    return _fedac(run, lr, alpha, alpha + 1, gamma)


@transcription("fedac-2")
def fedac_2(run, lr, mu, beta):
    gamma = max(math.sqrt(lr / (mu * run.K)), lr)
    alpha = 3 / (2 * gamma * mu) - 0.5
    betas = {"printed": (2 * alpha**2 - 1) / (alpha - 1), "code": 2 * alpha**2 / (alpha - 1)}
    return _fedac(run, lr, alpha, betas[beta], gamma)


@transcription("fedac-vanilla")
def fedac_vanilla(run, lr, mu):
    gamma = math.sqrt(lr / mu)
    alpha = 1 / (gamma * mu)
    return _fedac(run, lr, alpha, alpha + 1, gamma)
