"""Seeds of run files where undecided claims get more: which run files have those of which interim analysis."""

import itertools
from collections.abc import Callable, Iterable, Sequence

from fedatlas.experiments.cells import Cell
from fedatlas.experiments.runs import initial_searches
from fedatlas.experiments.specification import Experiment
from fedatlas.experiments.view import Claim, select_points
from fedatlas.results.claims import CHECKS, Check


def seed_counts(
    experiment: Experiment,
    cells: Sequence[Cell],
    deterministic: Iterable[str],
    undecided: Callable[[int], Iterable[str]],
    last: int,
) -> list[int]:
    """Return the number of seeds of each cell, as those of its interim analysis.

    Args:
        experiment: An experiment with interim analyses.
        cells: Its cells.
        deterministic: Ids of the algorithms whose runs are the same for all seeds, which need no more.
        undecided: Gives the claims that the interim analysis at a number of seeds leaves undecided, in ascending order.
        last: Number of seeds at the last interim analysis that is asked for.
    """
    constant = {id for id, entry in experiment.algorithms.items() if entry.seeds is not None} | set(deterministic)
    counts = [experiment.analyses[0]] * len(cells)
    for count, next_count in itertools.pairwise(experiment.analyses):
        if next_count > last:
            break
        claims = [experiment.claims[name] for name in undecided(count)]
        positions = {position for position in _positions(claims, cells) if cells[position].id not in constant}
        if not positions:
            break
        counts = [next_count if position in positions else number for position, number in enumerate(counts)]
    return counts


def _positions(claims: Iterable[Claim], cells: Sequence[Cell]) -> set[int]:
    """Return the positions of the cells whose runs the checks of claims compare."""
    checks: list[Check] = [CHECKS.build(check) for claim in claims for check in claim.checks]
    places = [(index, search.within) for index, cell in enumerate(cells) for search in initial_searches(cell.spec)]
    positions: set[int] = set()
    for check in checks:
        ids = check.algorithm_ids()
        by_id = [(index, within) for index, within in places if ids is None or cells[index].id in ids]
        points = [{**cells[index].point, **within} for index, within in by_id]
        for where in check.places():
            positions |= {by_id[number][0] for number in select_points(points, where)}
    return positions
