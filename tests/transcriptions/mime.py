"""Mime, MimeLite and MimeMVR (Karimireddy et al. 2021)."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


def mean_gradient(run, S, x):
    return sum(run.G(i, x) for i in S) / len(S)


@transcription("mime", "mimelite")
def mime(run, lr, beta):
    x = run.x0
    m = np.zeros_like(x)
    for t in range(run.T):
        S = run.S(t)
        if len(S):
            c = mean_gradient(run, S, x)
            local = []
            for i in S:
                y = x
                for k in range(run.K):
                    gradient = run.g(t, k, i, y)
                    if run.name == "mime":
                        gradient = gradient - run.g(t, k, i, x) + c
                    y = y - lr * ((1 - beta) * gradient + beta * m)
                local.append(y)
            m = (1 - beta) * c + beta * m
            x = sum(local) / len(S)
        yield x


@transcription("mime-mvr")
def mime_mvr(run, lr, a):
    x = x_before = run.x0
    m = np.zeros_like(x)
    for t in range(run.T):
        S = run.S(t)
        if len(S):
            local = []
            for i in S:
                y = x
                for k in range(run.K):
                    change = run.g(t, k, i, y) - run.g(t, k, i, x)
                    d = a * run.g(t, k, i, y) + (1 - a) * m + (1 - a) * change
                    y = y - lr * d
                local.append(y)
            now, then = mean_gradient(run, S, x), mean_gradient(run, S, x_before)
            m = a * now + (1 - a) * m + (1 - a) * (now - then)
            x_before, x = x, sum(local) / len(S)
        yield x
