"""Values that algorithms record of local steps, such as step sizes, as columns of a run's rows.

A row holds statistics of the values of the last round before its evaluation.
"""

from typing import Any

import numpy as np

LOCAL_LOSS = "local_loss"  # the minibatch's loss before a step, which is recorded of every algorithm
PARTS = ("mean", "min", "max", "within", "between")  # of the values of a NAME, as columns NAME_PART


def join(records: dict[str, list[np.ndarray]], block: dict[str, list[np.ndarray]]) -> None:
    """Add the records of the Steps of a block to the records of the round.

    Args:
        records: Arrays (K,) of each client, by name; changed.
        block: Arrays (m,) of each local step, by name.
    """
    for name, steps in block.items():
        if steps:
            records.setdefault(name, []).extend(np.stack(steps, axis=1).astype(float))


def columns(records: dict[str, list[np.ndarray]]) -> dict[str, Any]:
    """Return the columns of a row.

    Args:
        records: Arrays (K,) of each client, by name.

    Returns:
        For each NAME, NAME_mean, NAME_min and NAME_max over all values; NAME_within, the mean over clients of the
        standard deviation over local steps; and NAME_between, the standard deviation over clients of the mean over
        local steps.
    """
    row: dict[str, Any] = {}
    for name, clients in records.items():
        means, pooled = np.array([values.mean() for values in clients]), np.concatenate(clients)
        row |= {f"{name}_mean": pooled.mean(), f"{name}_min": pooled.min(), f"{name}_max": pooled.max()}
        row |= {f"{name}_within": np.mean([values.std() for values in clients]), f"{name}_between": means.std()}
    return row
