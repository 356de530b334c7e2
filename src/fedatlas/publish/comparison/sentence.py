"""Where an algorithm wins and where it loses, in one sentence that says what its numbers say."""

from collections.abc import Mapping, Sequence

from fedatlas.experiments import labels
from fedatlas.results.comparing.ranks import ProblemRank

NAMED = 3  # problems that a part of the sentence names; of more it gives the number


def write_sentence(
    name: str,
    places: Mapping[str, ProblemRank],
    rivals: Mapping[str, str],
    references: Sequence[str] = (),
    absent: str = "is not defined",
) -> str:
    """Return the sentence on an algorithm, without its full stop.

    A part each says where it is ahead of all others, where it is not told apart from the best, where it is behind the
    best, where it is ahead of a reference or behind it, where it diverges, in all runs or in some, and where it is not
    defined. Each problem on which it is behind has its name.

    Args:
        name: Name of the algorithm.
        places: Its place on each problem, by title.
        rivals: Names of the rivals by id.
        references: Ids of the rivals with which it is compared by name.
        absent: Words for an algorithm without runs on a problem.
    """
    defined = {title: place for title, place in places.items() if place.seeds}
    missing = [title for title in places if title not in defined]
    if not defined:
        return f"{name} {absent} on any of these problems"
    first = [title for title, place in defined.items() if place.state == "best"]
    near = [title for title, place in defined.items() if place.state == "near"]
    behind = [title for title, place in defined.items() if place.is_behind_best]
    diverged = [title for title, place in defined.items() if not place.attained]
    partly = [title for title, place in defined.items() if 0 < place.attained < place.seeds]
    counts = {len(places[title].comparisons) for title in first}
    count = f"all {counts.pop()} others" if len(counts) == 1 and counts != {1} else "all others"
    parts = [f"is ahead of {count} on {_titles(first, len(defined))}"] if first else []
    parts += [f"is not told apart from the best on {_titles(near, len(defined))}"] if near else []
    parts += [f"is behind the best on {_all_titles(behind, len(defined))}"] if behind else []
    parts += [part for id in references if (part := _against(id, defined, rivals))]
    parts += [f"diverges on {_titles(diverged, len(defined))}"] if diverged else []
    parts += [f"diverges in some runs on {_titles(partly, len(defined))}"] if partly else []
    parts += [f"{absent} on {_titles(missing, len(places))}"] if missing else []
    return f"{labels.bracket_name(name)} {'; '.join(parts)}"


def _against(id: str, places: Mapping[str, ProblemRank], rivals: Mapping[str, str]) -> str:
    """Return the part on a rival; empty if they never meet."""
    sides = {title: place.comparisons[id].side for title, place in places.items() if id in place.comparisons}
    if not sides:
        return ""
    ahead, behind = ([title for title, side in sides.items() if side == each] for each in ("ahead", "behind"))
    rival = labels.bracket_name(rivals[id])
    parts = [f"ahead of {rival} on {_titles(ahead, len(sides))}"] if ahead else []
    parts += [f"behind {rival if not ahead else 'it'} on {_all_titles(behind, len(sides))}"] if behind else []
    if not parts:
        where = f"on any of {len(sides)} problems" if len(sides) > 1 else f"on {labels.join_names(sides)}"
        return f"is not told apart from {rival} {where}"
    return f"is {' and '.join(parts)}"


def _titles(titles: Sequence[str], count: int) -> str:
    """Return titles of problems as a list; of many their number, or that they are all."""
    return (
        _all_titles(titles, count)
        if len(titles) in (*range(NAMED + 1), count)
        else f"{len(titles)} of {count} problems"
    )


def _all_titles(titles: Sequence[str], count: int) -> str:
    """Return titles of problems as a list, or that they are all."""
    return f"all {count} problems" if len(titles) == count > 1 else labels.join_names(titles)
