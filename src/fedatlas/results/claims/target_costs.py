"""The costs of runs until a metric attains an accuracy."""

from typing import TYPE_CHECKING

from fedatlas.results.comparing.targets import costs_to_targets

if TYPE_CHECKING:
    import pandas as pd


def target_costs(
    rows: "pd.DataFrame",
    metric: str,
    cost: str,
    target: float,
    low: bool = True,
    relative: bool = True,
) -> "pd.Series":
    """Return the cost until the metric first attains an accuracy, by seed, as `costs_to_targets` does.

    Args:
        rows: Rows of the curves, of one algorithm in one setting.
        metric: Column of the metric.
        cost: Column of the cost, or ``rounds``.
        target: Value of the metric.
        low: Whether small values are good.
        relative: Whether the target is a share of the metric's first value.
    """

    import pandas as pd

    curves = rows.groupby("seed")
    return pd.Series(
        {seed: costs_to_targets(curve, metric, cost, [target], low, relative)[0] for seed, curve in curves}
    )
