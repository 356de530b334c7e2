"""What algorithms note of single local steps, such as step sizes, as columns of a run's rows.

A row holds what was noted in the last round before its evaluation, so a run keeps at most evaluations x active clients
x local steps numbers of a name.
"""

import numpy as np


def join(records, block):
    """Add what a block's Steps noted, {name: [(m,) of each local step]}, to records, {name: [(K,) of each client]}."""
    for name, steps in block.items():
        if steps:
            records.setdefault(name, []).extend(np.stack(steps, axis=1).astype(float))


def columns(records):
    """The columns of a row from {name: [(K,) of each client]}.

    NAME: the values themselves, a list for each active client. NAME_mean, NAME_min, NAME_max: over all of them.
    NAME_within: standard deviation over a client's local steps, mean over clients. NAME_between: standard deviation
    over clients of their means.
    """
    row = {}
    for name, clients in records.items():
        means, everything = np.array([own.mean() for own in clients]), np.concatenate(clients)
        row[name] = [own.tolist() for own in clients]
        row |= {f"{name}_mean": everything.mean(), f"{name}_min": everything.min(), f"{name}_max": everything.max()}
        row |= {f"{name}_within": np.mean([own.std() for own in clients]), f"{name}_between": means.std()}
    return row
