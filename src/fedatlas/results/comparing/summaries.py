"""Standings in plain words: who is within noise of the best on a problem, and what the others need."""

import math
from collections.abc import Mapping, Sequence

from fedatlas.experiments import labels
from fedatlas.results.comparing.pairwise import Standing

LISTED = 8  # names that a sentence lists; of more it gives the number


def summarize_problem(
    standings: Mapping[str, Standing], what: str, cost: str | None, log: bool = True, named: int = 3
) -> str:
    """What the intervals carry of a problem, as a sentence without its full stop.

    standings: by the name of the algorithm. what: is compared, such as ``communication rounds``. cost: that is
    compared; None for scores. log: whether numbers are ratios. named: how many of those that are worse are named with
    their numbers, the nearest first; of the others the smallest end of an interval is told.
    """
    front = _of(standings, "best", "near")
    worse = _of(standings, "worse")
    parts = [_front(front, not worse, what, cost)]
    some, others = (worse, []) if len(worse) <= named + 1 else (worse[:named], worse[named:])
    parts += [_worse(name, one, cost, log) for name, one in some]
    if others:
        least = min(one.interval[0] for _, one in others)
        verb = ("need" if cost else "are") if len(others) > 1 else ("needs" if cost else "is")
        parts.append(f"{len(others)} others {verb} at least {_amount(_end(least), cost, log)}")
    for state, one, several in (
        ("never", "never attains the target", "never attain the target"),
        ("diverged", "diverges", "diverge"),
        ("undefined", "is not defined", "are not defined"),
    ):
        names = [name for name, standing in standings.items() if standing.state == state]
        if names and (front or state != "never"):
            parts.append(f"{join_names(names)} {one if len(names) == 1 else several}")
    return "; ".join(parts)


def summarize_problems(standings: Sequence[Mapping[str, Standing]]) -> str:
    """On how many problems each algorithm is the best or within noise of it, as a sentence without its full stop."""
    count, open_ = len(standings), sum(not _of(one, "best") for one in standings)
    names = list(dict.fromkeys(name for one in standings for name in one))
    front = {name: sum(one[name].state in ("best", "near") for one in standings if name in one) for name in names}
    alone = {name: sum(list(dict(_of(one, "best", "near"))) == [name] for one in standings) for name in names}
    order = sorted((name for name in names if front[name]), key=lambda name: (-front[name], -alone[name]))
    told = [f"{front[name]}" + (f" (alone on {alone[name]})" if alone[name] else "") for name in order]
    first = ("on the one problem, " if count == 1 else f"of {count} problems, ") + ", ".join(
        f"{bracket_name(name)} is within noise of the best on {text}" if at == 0 else f"{bracket_name(name)} on {text}"
        for at, (name, text) in enumerate(zip(order, told, strict=True))
    )
    never = [name for name in names if not front[name]]
    parts = [first] if order else []
    parts += [f"{join_names(never)} on none"] if never and order else []
    parts += [f"nobody attains the target on {open_}"] if open_ else []
    return "; ".join(parts)


def join_names(names: Sequence[str]) -> str:
    """Names as a list: ``A, B and C``; of very many the first and the number of the others.

    A name with a comma, such as ``FedSpeed, z``, gets brackets in its place.
    """
    names = [bracket_name(name) for name in names]
    if len(names) > LISTED:
        names = [*names[: LISTED - 1], f"{len(names) - LISTED + 1} others"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def bracket_name(name: str) -> str:
    """A name without commas, which would part it in a list."""
    first, comma, rest = name.partition(", ")
    return f"{first} ({rest})" if comma else name


def _of(standings: Mapping[str, Standing], *states: str) -> list[tuple[str, Standing]]:
    """Names and standings of some states, those with the smallest numbers first."""
    found = [(name, one) for name, one in standings.items() if one.state in states]
    return sorted(found, key=lambda pair: (pair[1].state != "best", _value(pair[1])))


def _value(one: Standing) -> float:
    return math.inf if one.gap is None or math.isnan(one.gap.value) else one.gap.value


def _front(front: "list[tuple[str, Standing]]", alone: bool, what: str, cost: str | None) -> str:
    """Who is the best, and within noise of it. alone: whether all others do not attain the target."""
    if not front:
        return "no algorithm attains the target" if cost else "all diverge"
    names = [bracket_name(name) + _partly(one) for name, one in front]
    where = f"in {what}" if cost else f"by {what}"
    if len(names) == 1 and cost and alone and front[0][1].attained < front[0][1].seeds:
        one = front[0][1]  # of few seeds, which would not make it the best
        return f"{bracket_name(front[0][0])} alone attains the target, with {one.attained} of {one.seeds} seeds"
    if len(names) == 1:
        return f"{names[0]} is the best {where}"
    if all(one.gap is not None and one.gap.count < 2 for _, one in front):
        return f"{names[0]} is ahead {where}, with one seed, which has no interval"
    return f"{join_names(names)} are within noise of the best {where}"


def _worse(name: str, one: Standing, cost: str | None, log: bool) -> str:
    assert one.gap is not None  # as of all that have a number
    low, high = one.interval
    if math.isfinite(high) and math.isfinite(one.gap.value):
        text = one.gap.text(one.level, digits=_digits(low))
    else:
        text = f"at least {_end(low)}" if math.isfinite(low) else "infinitely"
    return f"{bracket_name(name)}{_partly(one)} {'needs' if cost else 'is'} {_amount(text, cost, log)}"


def _amount(text: str, cost: str | None, log: bool) -> str:
    if not cost:
        return f"{text} times as large" if log else f"{text} behind"
    return f"{text} times as {'long' if cost.endswith('seconds') else 'many'}"


def _digits(low: float) -> int:
    """Digits with which an end of an interval is not written as 1, which it excludes."""
    return next((digits for digits in (3, 4, 5, 6) if labels.number(low, digits) != "1"), 7)


def _end(low: float) -> str:
    return labels.number(low, _digits(low))


def _partly(one: Standing) -> str:
    """How many seeds attain the target, where not all do."""
    return f" (with {one.attained} of {one.seeds} seeds)" if one.attained < one.seeds else ""
