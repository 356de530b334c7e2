"""The numbers of a comparison: the place of an algorithm on each problem, and over all of them, also as a sentence."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fedatlas.experiments import labels
from fedatlas.experiments.cells import CASE
from fedatlas.experiments.values import is_missing, parse_cell
from fedatlas.experiments.view import ExperimentView
from fedatlas.registry.options import native
from fedatlas.results.comparing.pairwise import Estimate
from fedatlas.results.comparing.ranks import ProblemRank, probability_of_improvement, rank_on_problems
from fedatlas.results.figures import FigureData
from fedatlas.results.figures.description import plain_text
from fedatlas.results.figures.loss_to_best import LossToBest, problem_frame, problem_titles

if TYPE_CHECKING:
    import pandas as pd

REFERENCES = ("fedavg", "scaffold")  # algorithms with which all are compared by name
NAMED = 3  # problems that a part of the sentence names; of more it gives the number


@dataclass(frozen=True)
class EntryNumbers:
    """The numbers of an algorithm.

    Attributes:
        id: Its id in the experiment.
        names: Names of all algorithms by id.
        quantity: The compared score in words.
        log: Whether scores are compared by their ratio, else by their difference.
        margin: Share of a score up to which differences do not matter.
        places: Its place on each problem, by title.
        choices: What tuning chose, in words, by title: ``η = 0.12``.
        overall: Probability that it is better than a rival on an instance of a problem, and the ends of its interval,
            by id of the rivals that it meets.
        absent: Words for it where it has no runs.
    """

    id: str
    names: Mapping[str, str]
    quantity: str
    log: bool
    margin: float
    places: dict[str, ProblemRank]
    choices: dict[str, str]
    overall: dict[str, Estimate]
    absent: str = "is not defined"

    @property
    def name(self) -> str:
        """Its name."""
        return self.names[self.id]

    @property
    def references(self) -> list[str]:
        """Rivals with which it is compared by name."""
        return [id for id in REFERENCES if id in self.overall]

    @property
    def sentence(self) -> str:
        """Where it wins and where it loses."""
        return f"{write_sentence(self.name, self.places, self.names, self.references, self.absent)}."

    def frame(self) -> "pd.DataFrame":
        """Return a row for each problem."""
        import pandas as pd

        return pd.DataFrame([self._row(title, place) for title, place in self.places.items()])

    def _row(self, title: str, place: ProblemRank) -> dict[str, Any]:
        row: dict[str, Any] = {"algorithm": self.id, "problem": title, "state": place.state, "score": place.score}
        row |= {"best_rival": place.rival or "", "best_rival_score": place.rival_score}
        row |= _interval("rank", place.rank)
        row["algorithms"] = 1 + len(place.comparisons)
        for rival in dict.fromkeys([*self.references, *([place.rival] if place.rival else [])]):
            column = rival if rival in self.references else "best_rival"
            if comparison := place.comparisons.get(rival):
                row |= _interval(f"better_than_{column}", comparison.won) | {f"side_of_{column}": comparison.side}
        return {**row, "chosen": self.choices.get(title, "")}


def _interval(name: str, estimate: Estimate | None) -> dict[str, float]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), estimate or [math.nan] * 3, strict=True))


def compute_numbers(
    view: ExperimentView, table: "pd.DataFrame", curves: "pd.DataFrame", entries: Sequence[str]
) -> list[EntryNumbers]:
    """Return the numbers of some algorithms of an experiment.

    Args:
        view: The experiment as figures see it.
        table: Its table.
        curves: Its curves.
        entries: Ids of the algorithms.
    """
    figure = LossToBest(scores=True)
    data = FigureData(figure, view, table, curves)
    scores = figure.outcomes(data)
    points = problem_frame(data, scores).to_dict("records")
    titles = list(map(plain_text, problem_titles(data, scores)))
    if len(titles) == 1:  # the title tells problems apart, of which there is one
        titles = [view.cases.get(points[0].get(CASE, ""), view.name)]
    improvement = probability_of_improvement(scores)
    names = {id: plain_text(name) for id, name in data.names.items()}
    result = []
    for id in entries:
        overall = {rival: improvement[id, rival] for rival in scores.algorithms if (id, rival) in improvement}
        choices = {title: _choice(view, id, point, table) for title, point in zip(titles, points, strict=True)}
        result.append(
            EntryNumbers(
                id,
                names,
                figure.quantity(data),
                scores.log,
                scores.margin,
                dict(zip(titles, rank_on_problems(scores, id, REFERENCES), strict=True)),
                {title: text for title, text in choices.items() if text},
                overall,
            )
        )
    return result


def _choice(view: ExperimentView, id: str, point: Mapping[str, Any], table: "pd.DataFrame") -> str:
    """Return what tuning chose for an algorithm at a point of the axes; empty without runs."""
    rows = table[(table["algorithm"] == id) & table["chosen"]]
    for axis, value in point.items():
        rows = rows[rows[axis] == value]
    if rows.empty:
        return ""
    chosen = rows.iloc[0]
    tune = [name for name in view.algorithms[id].tune if name in chosen and not is_missing(chosen[name])]
    values = {name: parse_cell(native(chosen[name])) for name in tune}
    return ", ".join(labels.assignment(*item) for item in values.items())


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
    ahead, behind = ([title for title, side in sides.items() if side == outcome] for outcome in ("ahead", "behind"))
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
