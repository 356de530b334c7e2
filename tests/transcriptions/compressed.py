"""Methods that compress, with the compressors that they have by default."""

import math

import numpy as np

from fedatlas.testing.transcriptions import transcription


def top(v, share):
    k = math.ceil(share * len(v))
    order = sorted(range(len(v)), key=lambda j: (-abs(v[j]), j))
    out = np.zeros(len(v))
    for j in order[:k]:
        out[j] = v[j]
    return out


def rand(v, share, rng):
    d = len(v)
    k = math.ceil(share * d)
    out = np.zeros(d)
    for j in rng.choice(d, k, replace=False, shuffle=False):
        out[j] = d / k * v[j]
    return out


def qsgd(v, s, rng):
    u, length = rng.random(len(v)), math.sqrt(sum(v**2))
    if length == 0:
        return v
    out = []
    for j, x in enumerate(v):
        ratio = s * abs(x) / length
        level = math.floor(ratio)
        level += u[j] >= 1 - (ratio - level)
        out.append(length * math.copysign(1, x) * level / s)
    return np.array(out)


@transcription("ef21")
def ef21(run, lr, compressor):
    assert compressor == {"kind": "top-k", "share": 0.1}
    x, g, g_i = run.x0, np.zeros(len(run.x0)), np.zeros((run.m, len(run.x0)))
    for t in range(run.T):
        c = [top(run.G(i, x) - g_i[i], 0.1) for i in range(run.m)]
        g_i = g_i + c
        g = g + sum(c) / run.m
        x = x - lr * run.decay(t) * g
        yield x


@transcription("ef21-sgdm")
def ef21_sgdm(run, lr, compressor, momentum):
    assert compressor == {"kind": "top-k", "share": 0.1}
    d = len(run.x0)
    x, g_i, v_i = run.x0, [np.zeros(d)] * run.m, [None] * run.m
    for t in range(run.T):
        for i in range(run.m):
            gradient = sum(run.g(t, k, i, x) for k in range(run.K)) / run.K
            v_i[i] = gradient if t == 0 else (1 - momentum) * v_i[i] + momentum * gradient
            g_i[i] = g_i[i] + top(v_i[i] - g_i[i], 0.1)
        x = x - lr * run.decay(t) * sum(g_i) / run.m
        yield x


@transcription("diana")
def diana(run, lr, alpha, compressor):
    assert alpha is None and compressor == {"kind": "rand-k", "share": 0.5}
    d = len(run.x0)
    a = math.ceil(0.5 * d) / d  # 1 / (1 + omega), where omega = d/k - 1
    x, h, h_i = run.x0, np.zeros(d), np.zeros((run.m, d))
    for t in range(run.T):
        q = [rand(run.G(i, x) - h_i[i], 0.5, run.coding_rng(t, i)) for i in range(run.m)]
        g_hat = h + sum(q) / run.m
        x = x - lr * run.decay(t) * g_hat
        h_i = h_i + a * np.array(q)
        h = h + a * sum(q) / run.m
        yield x


@transcription("marina")
def marina(run, lr, p, compressor):
    assert p is None and compressor == {"kind": "rand-k", "share": 0.5}
    d = len(run.x0)
    probability = math.ceil(0.5 * d) / d
    x, coin, before = run.x0, True, []
    for t in range(run.T):
        gradients = [run.G(i, x) for i in range(run.m)]
        if coin:
            g = sum(gradients) / run.m
        else:
            changes = [rand(gradients[i] - before[i], 0.5, run.coding_rng(t, i)) for i in range(run.m)]
            g = g + sum(changes) / run.m
        before = gradients
        x = x - lr * run.decay(t) * g
        coin = run.server_rng(t).random() < probability
        yield x


@transcription("fedpaq")
def fedpaq(run, lr, compressor):
    assert compressor == {"kind": "qsgd", "levels": 4}
    x = run.x0
    for t in range(run.T):
        quantised = []
        for i in run.S(t):
            y = x
            for k in range(run.K):
                y = y - lr * run.decay(t) * run.g(t, k, i, y)
            quantised.append(qsgd(y - x, 4, run.coding_rng(t, i)))
        if quantised:
            x = x + sum(quantised) / len(quantised)
        yield x


@transcription("compressed-scaffnew")
def compressed_scaffnew(run, lr, p, copies):
    n, d, s = run.m, len(run.x0), copies
    eta = n * (s - 1) / (s * (n - 1))
    template = np.zeros((d, n))
    for k in range(d):
        for j in range(s * k, s * (k + 1)):
            template[k, j % n] = 1
    x, h = [run.x0] * n, [np.zeros(d)] * n
    for t in range(run.T):
        gamma = lr * run.decay(t)
        flips = run.geometric(t, p)
        places = run.shared_rng(t).permutation(n)
        q = [template[:, places[i]] for i in range(n)]
        for k in range(flips):
            x_hat = [x[i] - gamma * run.g(t, k, i, x[i], flips) + gamma * h[i] for i in range(n)]
            if k == flips - 1:
                x_bar = sum(q[i] * x_hat[i] for i in range(n)) / s
                h = [h[i] + p * eta / gamma * q[i] * (x_bar - x_hat[i]) for i in range(n)]
                x = [x_bar] * n
            else:
                x = x_hat
        yield x[0]
