"""Standings in words: the algorithms within noise of the best on a problem, and the needs of the others."""

import math
from collections.abc import Mapping, Sequence

from fedatlas.experiments import labels
from fedatlas.results.comparing.pairwise import Standing

LISTED = 8  # names that a sentence lists; of more it gives the number


def summarize_problem(
    standings: Mapping[str, Standing], quantity: str, cost: str | None, log: bool = True, count: int = 3
) -> str:
    """Return the comparison of algorithms on a problem as a sentence without its full stop.

    Args:
        standings: Standings by the name of the algorithm.
        quantity: Words for the compared quantity, such as ``communication rounds``.
        cost: The compared cost; None for scores.
        log: Whether numbers are ratios.
        count: Number of worse algorithms that are named with their numbers, the nearest first; of the remaining ones
            the sentence has the smallest end of an interval.
    """
    front = _in_states(standings, "best", "near")
    worse = _in_states(standings, "worse")
    parts = [_front(front, not worse, quantity, cost)]
    nearest, remaining = (worse, []) if len(worse) <= count + 1 else (worse[:count], worse[count:])
    parts += [_worse(name, standing, cost, log) for name, standing in nearest]
    if remaining:
        least = min(standing.interval[0] for _, standing in remaining)
        verb = ("need" if cost else "are") if len(remaining) > 1 else ("needs" if cost else "is")
        parts.append(f"{len(remaining)} others {verb} at least {_amount(_end(least), cost, log)}")
    for state, singular, plural in (
        ("never", "never attains the target", "never attain the target"),
        ("diverged", "diverges", "diverge"),
        ("undefined", "is not defined", "are not defined"),
    ):
        names = [name for name, standing in standings.items() if standing.state == state]
        if names and (front or state != "never"):
            parts.append(f"{join_names(names)} {singular if len(names) == 1 else plural}")
    return "; ".join(parts)


def summarize_problems(problems: Sequence[Mapping[str, Standing]]) -> str:
    """Return the counts of problems on which algorithms are within noise of the best, as such a sentence.

    Args:
        problems: For each problem, the standings by the name of the algorithm.
    """
    count, unsolved = len(problems), sum(not _in_states(standings, "best") for standings in problems)
    names = list(dict.fromkeys(name for standings in problems for name in standings))
    front = {
        name: sum(standings[name].state in ("best", "near") for standings in problems if name in standings)
        for name in names
    }
    alone = {
        name: sum(list(dict(_in_states(standings, "best", "near"))) == [name] for standings in problems)
        for name in names
    }
    order = sorted((name for name in names if front[name]), key=lambda name: (-front[name], -alone[name]))
    texts = [f"{front[name]}" + (f" (alone on {alone[name]})" if alone[name] else "") for name in order]
    first = ("on the one problem, " if count == 1 else f"of {count} problems, ") + ", ".join(
        f"{bracket_name(name)} is within noise of the best on {text}" if i == 0 else f"{bracket_name(name)} on {text}"
        for i, (name, text) in enumerate(zip(order, texts, strict=True))
    )
    never = [name for name in names if not front[name]]
    parts = [first] if order else []
    parts += [f"{join_names(never)} on none"] if never and order else []
    parts += [f"nobody attains the target on {unsolved}"] if unsolved else []
    return "; ".join(parts)


def join_names(names: Sequence[str]) -> str:
    """Return names as a list, ``A, B and C``; of very many the first names and the number of the others.

    A name with a comma, such as ``FedSpeed, z``, gets brackets instead.
    """
    names = [bracket_name(name) for name in names]
    if len(names) > LISTED:
        names = [*names[: LISTED - 1], f"{len(names) - LISTED + 1} others"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def bracket_name(name: str) -> str:
    """Return a name without commas, which would separate it in a list."""
    first, comma, rest = name.partition(", ")
    return f"{first} ({rest})" if comma else name


def _in_states(standings: Mapping[str, Standing], *states: str) -> list[tuple[str, Standing]]:
    """Return names and standings of some states, the best first, then by their numbers."""
    pairs = [(name, standing) for name, standing in standings.items() if standing.state in states]
    return sorted(pairs, key=lambda pair: (pair[1].state != "best", _value(pair[1])))


def _value(standing: Standing) -> float:
    return math.inf if standing.gap is None or math.isnan(standing.gap.value) else standing.gap.value


def _front(front: "list[tuple[str, Standing]]", alone: bool, quantity: str, cost: str | None) -> str:
    """Return the part of the sentence on the best algorithms. alone: whether no other algorithm attains the target."""
    if not front:
        return "no algorithm attains the target" if cost else "all diverge"
    names = [bracket_name(name) + _seed_share(standing) for name, standing in front]
    phrase = f"in {quantity}" if cost else f"by {quantity}"
    if len(names) == 1 and cost and alone and front[0][1].attained < front[0][1].seeds:
        standing = front[0][1]  # with few seeds, it would not be the best beside a rival
        return (
            f"{bracket_name(front[0][0])} alone attains the target, with {standing.attained} of {standing.seeds} seeds"
        )
    if len(names) == 1:
        return f"{names[0]} is the best {phrase}"
    if all(standing.gap is not None and standing.gap.count < 2 for _, standing in front):
        return f"{names[0]} is ahead {phrase}, with one seed, which has no interval"
    return f"{join_names(names)} are within noise of the best {phrase}"


def _worse(name: str, standing: Standing, cost: str | None, log: bool) -> str:
    assert standing.gap is not None  # all standings with a number have a gap
    low, high = standing.interval
    if math.isfinite(high) and math.isfinite(standing.gap.value):
        text = standing.gap.text(standing.level, digits=_digits(low))
    else:
        text = f"at least {_end(low)}" if math.isfinite(low) else "infinitely"
    return f"{bracket_name(name)}{_seed_share(standing)} {'needs' if cost else 'is'} {_amount(text, cost, log)}"


def _amount(text: str, cost: str | None, log: bool) -> str:
    if not cost:
        return f"{text} times as large" if log else f"{text} behind"
    return f"{text} times as {'long' if cost.endswith('seconds') else 'many'}"


def _digits(low: float) -> int:
    """Return the digits with which an end of an interval is not written as 1, which the interval excludes."""
    return next((digits for digits in (3, 4, 5, 6) if labels.number(low, digits) != "1"), 7)


def _end(low: float) -> str:
    return labels.number(low, _digits(low))


def _seed_share(standing: Standing) -> str:
    """Return the number of seeds that attain the target, where not all do."""
    return f" (with {standing.attained} of {standing.seeds} seeds)" if standing.attained < standing.seeds else ""
