"""The share of wrong decisions among many: q-values (Benjamini & Hochberg 1995)."""

from collections.abc import Sequence


def q_values(p_values: Sequence[float | None]) -> list[float | None]:
    """Return for each p-value the smallest share of wrong decisions among those with a p-value as small.

    If all claims with a q-value of at most 0.05 are decided, at most 5 % of these decisions are expected to be wrong.
    The rule holds for independent tests and for tests that are positively dependent.

    Args:
        p_values: The p-values of a family of tests; None where there is no test, which does not count.

    Returns:
        The q-values in the same order, None alike.
    """
    order = sorted((i for i, p in enumerate(p_values) if p is not None), key=lambda i: p_values[i] or 0.0, reverse=True)
    result: list[float | None] = [None] * len(p_values)
    q = 1.0
    for rank, i in zip(range(len(order), 0, -1), order, strict=True):
        q = min(q, (p_values[i] or 0.0) * len(order) / rank)
        result[i] = q
    return result
