"""Where an algorithm wins and where it loses, in one sentence that says no more than its numbers."""

from collections.abc import Mapping, Sequence

from fedatlas.results.comparing.placings import Placing, over_problems

NAMED = 3  # problems that a part of the sentence names; of more it gives the number


def summarize_placings(
    name: str,
    placings: Mapping[str, Placing],
    rivals: Mapping[str, str],
    references: Sequence[str] = (),
    absent: str = "is not defined",
) -> str:
    """Return the sentence on an algorithm, without its full stop.

    It is said to be ahead or behind where the duel is significant and meaningful, with intervals that hold together
    over the problems. A part each says where it is ahead of all others, where it is not told apart from the best, where
    it is ahead of a reference or behind it, where it diverges, in all runs or in some, and where it is not defined.

    Args:
        name: Name of the algorithm.
        placings: Its place on each problem, by title.
        rivals: Names of the rivals by id.
        references: Ids of the rivals with which it is compared by name.
        absent: Words for an algorithm without runs on a problem.
    """
    defined = {title: placing for title, placing in placings.items() if placing.is_defined}
    missing = [title for title in placings if title not in defined]
    if not defined:
        return f"{name} {absent} on any of these problems"
    first = [title for title, placing in defined.items() if placing.is_ahead_of_all]
    near = [title for title, placing in defined.items() if placing.is_near_best and title not in first]
    worse = [title for title, placing in defined.items() if placing.is_worse_than_best]
    diverged = [title for title, placing in defined.items() if placing.diverges]
    partly = [title for title, placing in defined.items() if placing.diverges_in_part]
    counts = {len(placings[title].duels or ()) for title in first}
    count = f"all {counts.pop()} others" if len(counts) == 1 and counts != {1} else "all others"
    parts = [f"is ahead of {count} on {_titles(first, len(defined))}"] if first else []
    parts += [f"is not told apart from the best on {_titles(near, len(defined))}"] if near else []
    if worse and not (first or near):
        parts.append(f"is worse than the best on {_titles(worse, len(defined))}")
    parts += [part for id in references if (part := _against(id, list(defined.values()), list(defined), rivals))]
    parts += [f"diverges on {_titles(diverged, len(defined))}"] if diverged else []
    parts += [f"diverges in some runs on {_titles(partly, len(defined))}"] if partly else []
    parts += [f"{absent} on {_titles(missing, len(placings))}"] if missing else []
    return f"{bracket_name(name)} {'; '.join(parts)}"


def _against(id: str, placings: list[Placing], titles: list[str], rivals: Mapping[str, str]) -> str:
    """Return the part on a rival; empty if they never meet."""
    met, ahead, behind = (
        [titles[at] for at in over_problems(placings, id, test)]
        for test in (lambda _: True, lambda duel: duel.side == "ahead", lambda duel: duel.side == "behind")
    )
    if not met:
        return ""
    rival = bracket_name(rivals[id])
    sides = [f"ahead of {rival} on {_titles(ahead, len(met))}"] if ahead else []
    sides += [f"behind {rival if not ahead else 'it'} on {_titles(behind, len(met))}"] if behind else []
    if not sides:
        where = f"on any of {len(met)} problems" if len(met) > 1 else f"on {bracket_name(met[0])}"
        return f"is not told apart from {rival} {where}"
    return f"is {' and '.join(sides)}"


def _titles(titles: Sequence[str], count: int) -> str:
    """Return titles of problems as a list; of many their number, or that they are all."""
    if len(titles) == count > 1:
        return f"all {count} problems"
    return join_names(titles) if len(titles) <= NAMED else f"{len(titles)} of {count} problems"


def join_names(names: Sequence[str]) -> str:
    """Return names as a list, ``A, B and C``; a name with a comma, such as ``FedSpeed, z``, gets brackets instead."""
    names = [bracket_name(name) for name in names]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def bracket_name(name: str) -> str:
    """Return a name without commas, which would separate it in a list."""
    first, comma, rest = name.partition(", ")
    return f"{first} ({rest})" if comma else name
