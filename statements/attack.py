"""The attack on a statement: a search for the draw at which its left side exceeds its right side most."""

import inspect
import time
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.optimize import differential_evolution, minimize

from statements.draws import Draw, Outside

SIZE = 48  # coordinates of a point
FLOOR = 1e-6  # sides smaller than this are rounding
FOUND = 1e-6  # relative excess from which a statement is false


@dataclass(frozen=True)
class Statement:
    """A numbered statement: a function from a draw to its sides.

    The function returns pairs (left, right) of numbers that the statement orders, left <= right. `equal` makes a pair
    of an identity. False ones are those of the errata, whose attack must succeed.
    """

    paper: str
    number: str
    sides: object = field(compare=False)
    false: bool = False

    @property
    def name(self):
        """Paper and number."""
        return f"{self.paper} {self.number}"


class Finding(NamedTuple):
    """The worst draw: (left - right) over the larger of both, its point, and how many draws were tried."""

    excess: float
    point: np.ndarray
    trials: int

    @property
    def false(self):
        """Whether the draw refutes the statement."""
        return self.excess > FOUND


def equal(a, b):
    """The pair of an identity: the largest difference, and 0 relative to the size of the sides."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    size = max(np.abs(a).max(initial=0), np.abs(b).max(initial=0), 1e-3)
    return float(np.abs(a - b).max(initial=0) / size), 1e-9


def registry(paper):
    """Return the decorator that collects the statements of a paper, and the collection."""
    statements = []

    def statement(number, false=False):
        def declare(function):
            statements.append(Statement(paper, number, function, false))
            return function

        return declare

    return statement, statements


def worst(statement, point):
    """The relative excess of left over right of the worst pair at a point, -inf outside; coordinates used."""
    draw = Draw(point)
    try:
        with np.errstate(all="ignore"):
            pairs = statement.sides(draw)
    except (Outside, np.linalg.LinAlgError):
        return -np.inf, draw.used
    pairs = [pairs] if isinstance(pairs, tuple) else pairs
    excesses = []
    for left, right in pairs:
        size = max(abs(left), abs(right), FLOOR)
        said = np.isfinite(size) and max(abs(left), abs(right)) > FLOOR  # else both sides vanish
        excesses.append((left - right) / size if said else -1.0)
    return float(max(excesses)), draw.used


def _search(tried, best, rng, dice, steps, evolve):
    """Try points; `best` holds the worst draws so far, which `tried` keeps in order."""
    for k in range(dice):
        point = rng.random(SIZE)
        if k % 2:
            ends = rng.random(SIZE) < rng.random()
            point[ends] = rng.integers(0, 2, ends.sum())
        tried(point)
    for _, point, used in list(best) if steps else []:
        k = max(min(used, SIZE), 1)

        def climb(head, point=point, k=k):
            return tried(np.concatenate([head, point[k:]]))

        simplex = np.vstack([point[:k], *np.where(np.eye(k), np.where(point[:k] > 0.5, -0.3, 0.3), 0) + point[:k]])
        minimize(climb, point[:k], method="Nelder-Mead", options={"maxfev": steps, "initial_simplex": simplex})
    if evolve:
        k = max(min(best[0][2], SIZE), 1)
        start = best[0][1]
        differential_evolution(
            lambda head: tried(np.concatenate([head, start[k:]])),
            [(0, 1)] * k,
            maxiter=evolve,
            popsize=4,
            seed=rng,
            polish=False,
            x0=start[:k],
        )


class _Enough(Exception):
    """A draw refutes the statement and no worse one is asked for, or the time is over."""


def attack(statement, seed=0, dice=60, climbs=2, steps=60, evolve=0, first=False, seconds=np.inf):
    """Search for the draw with the largest excess: dice, then climbs from the best, then an evolution.

    Args:
        statement: The `Statement`.
        seed: Of the dice.
        dice: Random points; half of them have coordinates at the ends of the cube.
        climbs: Nelder-Mead searches from the best points.
        steps: Evaluations of each.
        evolve: Generations of a differential evolution.
        first: Whether the first draw that refutes the statement is enough.
        seconds: Of the processor, after which it stops.
    """
    rng = np.random.default_rng(seed)
    best, trials, start = [], 0, time.process_time()

    def tried(point):
        nonlocal trials
        trials += 1
        point = np.clip(point, 0, 1)
        excess, used = worst(statement, point)
        best.append((excess, point, used))
        best.sort(key=lambda found: -found[0])
        del best[max(climbs, 1) :]
        if (first and best[0][0] > FOUND) or time.process_time() - start > seconds:
            raise _Enough
        return -excess if np.isfinite(excess) else 10.0

    try:
        _search(tried, best, rng, dice, steps, evolve)
    except _Enough:
        pass
    excess, point, _ = best[0]
    return Finding(excess, point, trials)


def planted(statement, right, wrong):
    """Return a statement with an error: its function with one piece of its text exchanged.

    Args:
        statement: The `Statement`.
        right: The text, which must occur exactly once.
        wrong: What stands in its place.
    """
    function = statement.sides
    text = inspect.getsource(function)
    if text.count(right) != 1:
        raise ValueError(f"{statement.name}: {right!r} is there {text.count(right)} times")
    lines = text.replace(right, wrong).splitlines()
    body = "\n".join(lines[next(k for k, line in enumerate(lines) if line.startswith("def ")) :])
    names = dict(function.__globals__)
    exec(compile(body, f"<{statement.name} with an error>", "exec"), names)
    return Statement(statement.paper, statement.number, names[function.__name__], True)
