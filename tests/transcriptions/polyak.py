"""FedSPS and its variants (Mukherjee et al. 2024), and minibatch SGD with SPS (Loizou et al. 2021)."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


def spsmax(loss, g, l_star, c, gamma_b):
    square = float(np.sum(g**2))
    if square == 0:
        return 0.0 if loss <= l_star else gamma_b
    return min((loss - l_star) / (c * square), gamma_b)


@transcription("fedsps")
def fedsps(run, gamma_b, c, l_star, smoothing):
    # Algorithm 1; smoothing of Section 6 and of Loizou et al.
    x = run.x0
    gamma_b_i = [gamma_b] * run.m
    for t in range(run.T):
        received = []
        for i in run.S(t):
            x_i = x
            for k in range(run.K):
                g_i = run.g(t, k, i, x_i)
                gamma = spsmax(run.f(t, k, i, x_i), g_i, l_star, c, gamma_b_i[i])
                x_i = x_i - gamma * g_i
                if smoothing == "bound":
                    gamma_b_i[i] = 2 ** run.share(t, k, i) * gamma_b_i[i]
                if smoothing == "step":
                    gamma_b_i[i] = 2 ** run.share(t, k, i) * gamma
            received.append(x_i)
        if received:
            x = sum(received) / len(received)
        yield x


@transcription("fedsps-normalized")
def fedsps_normalized(run, gamma_b, c, l_star, smoothing):
    # Algorithm 2, where nu contains every step (Appendix D.1.1); smoothing as in FedSPS
    x = run.x0
    gamma_b_i = [gamma_b] * run.m
    for t in range(run.T):
        top, bottom = 0, 0
        for i in run.S(t):
            x_i, nu_i = x, 0
            for k in range(run.K):
                g_i = run.g(t, k, i, x_i)
                gamma = spsmax(run.f(t, k, i, x_i), g_i, l_star, c, gamma_b_i[i])
                x_i = x_i - gamma * g_i
                nu_i = nu_i + gamma
                if smoothing == "bound":
                    gamma_b_i[i] = 2 ** run.share(t, k, i) * gamma_b_i[i]
                if smoothing == "step":
                    gamma_b_i[i] = 2 ** run.share(t, k, i) * gamma
            top = top + x_i / nu_i
            bottom = bottom + 1 / nu_i
        if bottom:
            x = top / bottom
        yield x


@transcription("feddecsps")
def feddecsps(run, gamma_b, c, l_star, memory):
    # Section 5, with c_{-1} = c_0 and gamma_{-1} = gamma_b; restarted: by a new optimiser in each round
    x = run.x0
    step = [gamma_b] * run.m
    c_before = [c] * run.m
    count = [0] * run.m
    for t in range(run.T):
        received = []
        for i in run.S(t):
            x_i = x
            if memory == "restarted":
                step[i], c_before[i], count[i] = gamma_b, c, 0
            for k in range(run.K):
                g_i = run.g(t, k, i, x_i)
                c_t = c * np.sqrt(count[i] + 1)
                step[i] = 1 / c_t * spsmax(run.f(t, k, i, x_i), g_i, l_star, 1, c_before[i] * step[i])
                c_before[i] = c_t
                count[i] = count[i] + 1
                x_i = x_i - step[i] * g_i
            received.append(x_i)
        if received:
            x = sum(received) / len(received)
        yield x


@transcription("fedsps-global")
def fedsps_global(run, gamma_b, c, l_star, aggregation):
    # Algorithm 3; the first step size is client 0's at the start (D.2.3), or the active one's of lowest number;
    # the formulae (a), (b) and (c) of D.2.2
    x = run.x0
    gamma = None
    for t in range(run.T):
        S = run.S(t)
        if len(S) and gamma is None:
            first = min(S)
            gamma = spsmax(run.f(t, 0, first, x), run.g(t, 0, first, x), l_star, c, gamma_b)
        received, steps, losses, gradients = [], [], [], []
        for i in S:
            x_i = x
            for k in range(run.K):
                g_i = run.g(t, k, i, x_i)
                if k == run.K - 1:
                    steps.append(spsmax(run.f(t, k, i, x_i), g_i, l_star, c, gamma_b))
                    losses.append(run.f(t, k, i, x_i) - l_star)
                    gradients.append(g_i)
                x_i = x_i - gamma * g_i
            received.append(x_i)
        if received:
            n = len(received)
            x = sum(received) / n
            if aggregation == "steps":
                gamma = sum(steps) / n
            elif aggregation == "norms":
                gamma = min(sum(losses) / n / (c * sum(g @ g for g in gradients) / n), gamma_b)
            else:
                mean = sum(gradients) / n
                gamma = min(sum(losses) / n / (c * (mean @ mean)), gamma_b)
        yield x


@transcription("sps")
def sps(run, gamma_b, c, l_star):
    # Loizou et al. 2021, equation (3), on the samples of all clients
    x = run.x0
    for t in range(run.T):
        pairs = [(i, k) for i in run.S(t) for k in range(run.K)]
        if pairs:
            loss = sum(run.f(t, k, i, x) for i, k in pairs) / len(pairs)
            g = sum(run.g(t, k, i, x) for i, k in pairs) / len(pairs)
            x = x - spsmax(loss, g, l_star, c, gamma_b) * g
        yield x
