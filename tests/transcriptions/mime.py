"""Mime, MimeLite and MimeMVR (Karimireddy et al. 2021)."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


def mean_gradient(world, S, x):
    return sum(world.G(i, x) for i in S) / len(S)


@transcription("mime", "mimelite")
def mime(world, lr, beta):
    x = world.x0
    m = np.zeros_like(x)
    for t in range(world.T):
        S = world.S(t)
        if len(S):
            c = mean_gradient(world, S, x)
            local = []
            for i in S:
                y = x
                for k in range(world.K):
                    gradient = world.g(t, k, i, y)
                    if world.name == "mime":
                        gradient = gradient - world.g(t, k, i, x) + c
                    y = y - lr * ((1 - beta) * gradient + beta * m)
                local.append(y)
            m = (1 - beta) * c + beta * m
            x = sum(local) / len(S)
        yield x


@transcription("mime-mvr")
def mime_mvr(world, lr, a):
    x = x_before = world.x0
    m = np.zeros_like(x)
    for t in range(world.T):
        S = world.S(t)
        if len(S):
            local = []
            for i in S:
                y = x
                for k in range(world.K):
                    change = world.g(t, k, i, y) - world.g(t, k, i, x)
                    d = a * world.g(t, k, i, y) + (1 - a) * m + (1 - a) * change
                    y = y - lr * d
                local.append(y)
            now, then = mean_gradient(world, S, x), mean_gradient(world, S, x_before)
            m = a * now + (1 - a) * m + (1 - a) * (now - then)
            x_before, x = x, sum(local) / len(S)
        yield x
