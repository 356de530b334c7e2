"""Values that algorithms record of single local steps, such as step sizes, as columns of a run's rows.

A row holds what was recorded in the last round before its evaluation. So a run keeps, of each name, at most evaluations
x active clients x local steps numbers.
"""

from typing import Any

import numpy as np

PARTS = ("mean", "min", "max", "within", "between")  # of what is recorded, as columns NAME_PART


def join(records: dict[str, list[np.ndarray]], block: dict[str, list[np.ndarray]]) -> None:
    """Add what the Steps of a block recorded to the records of the round.

    records: arrays (K,) of each client, by name. block: arrays (m,) of each local step, by name.
    """
    for name, steps in block.items():
        if steps:
            records.setdefault(name, []).extend(np.stack(steps, axis=1).astype(float))


def columns(records: dict[str, list[np.ndarray]]) -> dict[str, Any]:
    """The columns of a row.

    records: arrays (K,) of each client, by name. Returns, for each NAME, the values themselves as NAME, a list for each
    active client; NAME_mean, NAME_min and NAME_max over all values; NAME_within, the mean over clients of the standard
    deviation over local steps; and NAME_between, the standard deviation over clients of the mean over local steps.
    """
    row: dict[str, Any] = {}
    for name, clients in records.items():
        means, everything = np.array([own.mean() for own in clients]), np.concatenate(clients)
        row[name] = [own.tolist() for own in clients]
        row |= {f"{name}_mean": everything.mean(), f"{name}_min": everything.min(), f"{name}_max": everything.max()}
        row |= {f"{name}_within": np.mean([own.std() for own in clients]), f"{name}_between": means.std()}
    return row
