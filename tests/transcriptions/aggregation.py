"""The coordinate-wise median."""

import numpy as np

from fedatlas.testing.transcriptions import transcription


def changes(run, t, lr, x):
    """Changes of all active clients, with their numbers of local steps."""
    out = []
    for i in run.S(t):
        y = x
        for k in range(run.K):
            y = y - lr * run.decay(t) * run.g(t, k, i, y)
        out.append(y - x)
    return out


@transcription("median")
def median(run, lr, server_lr):
    x = run.x0
    for t in range(run.T):
        updates = changes(run, t, lr, x)
        if updates:
            middle = []
            for j in range(len(x)):
                values = sorted(u[j] for u in updates)
                half = len(values) // 2
                middle.append(values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2)
            x = x + server_lr * np.array(middle)
        yield x
