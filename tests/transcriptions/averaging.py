"""FedAvg (Yuan & Ma 2020, Algorithm 2), FedProx, FedAsync in synchronous rounds, SCAFFOLD, FedSpeed and FedAWE."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


@transcription("fedavg", "fedavg-active")
def fedavg(run, lr, server_lr):
    x = run.x0
    for t in range(run.T):
        eta = lr * run.decay(t)
        changes = []
        for i in run.S(t):
            y = x
            for k in range(run.K):
                y = y - eta * run.g(t, k, i, y)
            changes.append(y - x)
        if changes:
            x = x + server_lr * sum(changes) / len(changes)
        yield x


@transcription("fedavg-averaged")
def fedavg_averaged(run, lr, server_lr, mu):
    # Yuan & Ma 2020, Theorem D.1: sum_t rho_t w_t / S_T over the mean iterates w_t of all steps so far
    x = run.x0
    iterates, ratios = [], []
    for t in range(run.T):
        eta = lr * run.decay(t)
        S = run.S(t)
        changes, visited = [], [0.0] * run.K
        for i in S:
            y = x
            for k in range(run.K):
                visited[k] = visited[k] + y / len(S)
                y = y - eta * run.g(t, k, i, y)
            changes.append(y - x)
        if changes:
            x = x + server_lr * sum(changes) / len(changes)
            iterates += visited
            ratios += [1 - eta * mu / 2] * run.K
        rho = [np.prod(ratios[j + 1 :]) for j in range(len(iterates))]
        yield sum(r * w for r, w in zip(rho, iterates, strict=True)) / sum(rho) if iterates else run.x0


@transcription("fedprox")
def fedprox(run, lr, server_lr, nu):
    x = run.x0
    for t in range(run.T):
        eta = lr * run.decay(t)
        changes = []
        for i in run.S(t):
            y = x
            for k in range(run.K):
                y = y - eta * (run.g(t, k, i, y) + nu * (y - x))
            changes.append(y - x)
        if changes:
            x = x + server_lr * sum(changes) / len(changes)
        yield x


@transcription("fedasync")
def fedasync(run, lr, alpha, rho):
    # Xie et al. 2019, Algorithm 1, where all messages of a round arrive at once and none is late
    x = run.x0
    for t in range(run.T):
        gamma = lr * run.decay(t)
        models = []
        for i in run.S(t):
            y = x
            for k in range(run.K):
                y = y - gamma * (run.g(t, k, i, y) + rho * (y - x))
            models.append(y)
        if models:
            x = (1 - alpha) * x + alpha * sum(models) / len(models)
        yield x


@transcription("scaffold")
def scaffold(run, lr, server_lr, option):
    # Karimireddy et al. 2020, Algorithm 1
    x = run.x0
    c = np.zeros_like(x)
    c_i = [np.zeros_like(x) for _ in range(run.m)]
    for t in range(run.T):
        eta = lr * run.decay(t)
        S = run.S(t)
        delta_y, delta_c = [], []
        for i in S:
            y = x
            for k in range(run.K):
                y = y - eta * (run.g(t, k, i, y) - c_i[i] + c)
            if option == 1:
                c_plus = run.G(i, x)
            else:
                c_plus = c_i[i] - c + (1 / (run.K * eta)) * (x - y)
            delta_y.append(y - x)
            delta_c.append(c_plus - c_i[i])
            c_i[i] = c_plus
        if len(S):
            x = x + server_lr / len(S) * sum(delta_y)
            c = c + len(S) / run.m * (1 / len(S) * sum(delta_c))
        yield x


@transcription("fedspeed")
def fedspeed(run, lr, lam, alpha, rho, normalise, prox, correction, perturbation, mean, clip, decoupled):
    # Sun et al. 2023, Algorithm 1, line by line, which is mean "active"; Section 5.3 for the scaled ascent; Table 7 for
    # parts that are switched off. Mean "all" is their code's, in which gradients have no weight decay, are clipped
    # together with (h - x) / lam, and SGD then adds y / lam and the decay
    x, pull = run.x0, 1 / lam if prox else 0.0
    g_hat = [np.zeros_like(x) for _ in range(run.m)]
    for t in range(run.T):
        eta = lr * run.decay(t)
        received = []
        for i in run.S(t):
            x_ik = x.copy()
            for k in range(run.K):
                g_1 = run.g(t, k, i, x_ik) - decoupled * x_ik
                scale = rho / np.sqrt((g_1**2).sum()) if normalise else rho
                breve_x = x_ik + scale * g_1
                g_2 = run.g(t, k, i, breve_x) - decoupled * breve_x
                g_tilde = (1 - alpha) * g_1 + alpha * g_2 if perturbation else g_1
                part = g_tilde - g_hat[i] - pull * x
                length = np.sqrt((part**2).sum())
                if clip is not None and length > clip:
                    part = part * (clip / length)
                x_ik = x_ik - eta * (part + pull * x_ik + decoupled * x_ik)
            if correction:
                g_hat[i] = g_hat[i] - (1 / lam) * (x_ik - x)
            received.append(x_ik - lam * g_hat[i] if mean == "active" else x_ik)
        if received:
            x = sum(received) / len(received)
            if mean == "all":
                x = x - lam * sum(g_hat) / run.m
        yield x


@transcription("fedspeed-z")
def fedspeed_z(run, lr, lam, alpha, rho, normalise, prox, correction, perturbation, mean, clip, decoupled):
    assert prox and correction and perturbation and clip is None and not decoupled
    # Sun et al. 2023, Section 4: u is the mean of the last local iterates, z = u + (1 - gamma) / gamma (u - last u)
    x = u = z = run.x0
    g_hat = [np.zeros_like(x) for _ in range(run.m)]
    for t in range(run.T):
        eta = lr * run.decay(t)
        gamma = sum(eta / lam * (1 - eta / lam) ** (run.K - 1 - k) for k in range(run.K))
        last, amended = [], []
        for i in run.S(t):
            x_ik = x.copy()
            for k in range(run.K):
                g_1 = run.g(t, k, i, x_ik)
                ascent = rho * g_1 / np.linalg.norm(g_1) if normalise else rho * g_1
                g_tilde = (1 - alpha) * g_1 + alpha * run.g(t, k, i, x_ik + ascent)
                x_ik = x_ik - eta * (g_tilde - g_hat[i] + (1 / lam) * (x_ik - x))
            g_hat[i] = g_hat[i] - (1 / lam) * (x_ik - x)
            last.append(x_ik)
            amended.append(x_ik - lam * g_hat[i])
        if last:
            new = sum(last) / len(last)
            z, u = new + (1 - gamma) / gamma * (new - u), new
            x = sum(amended) / len(amended) if mean == "active" else new - lam * sum(g_hat) / run.m
        yield z


@transcription("fedawe")
def fedawe(run, lr, server_lr, clip, report):
    # Xiang et al. 2024, Algorithm 1; clip as in the authors' varying_awe.py, on the mean of the echoed innovations
    x = run.x0
    x_i = [x.copy() for _ in range(run.m)]
    tau = [-1] * run.m
    for t in range(run.T):
        A = run.S(t)
        echoed = []
        for i in A:
            x_ik = x_i[i]
            for k in range(run.K):
                x_ik = x_ik - lr * run.g(t, k, i, x_ik)
            G_i = x_i[i] - x_ik
            echoed.append((t - tau[i]) * G_i)
            tau[i] = t
        if len(A):
            echo = sum(echoed) / len(A)
            length = np.sqrt((echo**2).sum())
            if clip is not None and length > clip:
                echo = echo / length * clip
            x = sum(x_i[i] for i in A) / len(A) - server_lr * echo
            for i in A:
                x_i[i] = x
        yield x if report == "server" else sum(x_i) / run.m
