"""Numbers over seeds, their intervals, and the verdict that they allow on a claim."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fedatlas.results.claims.verdicts import HELD, MORE, NOT_HELD, UNDECIDED, VACUOUS, Measurement, NotTested, Outcome
from fedatlas.results.comparing.intervals import LEVEL, Estimate

LISTED = 3  # numbers that a text lists; of more it tells the worst

Side = Literal["above", "below"] | None


@dataclass(frozen=True)
class Bounds:
    """The numbers that a claim allows. open: whether the lower end is not allowed itself."""

    low: float = -math.inf
    high: float = math.inf
    open: bool = False

    def side(self, number: float) -> int:
        """0 for an allowed number, -1 for one that is too small, 1 for one that is too large."""
        if number < self.low or (self.open and number == self.low):
            return -1
        return int(number > self.high)


@dataclass(frozen=True)
class Evidence:
    """A number that a claim is about. bounds: that it must lie in. about: its text, with ``{}`` for the number."""

    sample: Estimate
    bounds: Bounds
    about: str = "{}"

    @property
    def text(self) -> str:
        return self.about.replace("{}", str(self.sample))  # names that it holds may have braces

    def sides(self, level: float) -> set[int]:
        """Sides of the bounds on which the ends of the interval lie."""
        return set(map(self.bounds.side, self.sample.interval(level)))

    def side(self, level: float) -> int | None:
        """Side of the bounds on which the whole interval lies; None if its ends lie on different sides."""
        sides = self.sides(level)
        return sides.pop() if len(sides) == 1 else None

    def margin(self, more: Side) -> float:
        """How far the interval lies inside the bounds, on the sample's scale; negative outside."""
        low, high = self.sample.interval()
        gaps = [self._gap(low, self.bounds.low), self._gap(self.bounds.high, high)]
        return min(gaps if more is None else gaps[:1] if more == "above" else gaps[1:])

    def _gap(self, large: float, small: float) -> float:
        if large == small or not (math.isfinite(large) and math.isfinite(small)):
            return 0.0 if large == small else math.copysign(math.inf, large - small)
        if self.sample.ratio and large > 0 and small > 0:
            return math.log(large / small)
        return large - small


def judge_all(parts: Sequence[Evidence], note: str = "", more: Side = None, joined: str = "; ") -> Outcome:
    """The outcome of a claim that holds if all parts lie in their bounds, or beyond them on the side ``more``.

    *held*: every interval lies there, also if it crosses the line between the bounds and what is beyond. *held and
    more*: so it is, and one lies wholly beyond. *not held*: one lies wholly outside, at a level that Bonferroni's
    correction divides by the number of parts. Otherwise *undecided*. The number of the outcome is the worst part's.
    Raises NotTested without parts.
    """
    if not parts:
        raise NotTested("No setting has results of all that is compared")
    passing = {None: {0}, "above": {0, 1}, "below": {0, -1}}[more]
    sides = [part.sides(LEVEL) for part in parts]
    if {part.side(LEVEL / len(parts)) for part in parts} - passing - {None}:
        verdict = NOT_HELD
    elif all(ends <= passing for ends in sides):
        verdict = HELD if all(0 in ends for ends in sides) else MORE
    else:
        verdict = UNDECIDED
    worst = min(parts, key=lambda part: part.margin(more))
    if len(parts) <= LISTED:
        text = joined.join(part.text for part in parts)
    else:
        text = f"at worst {worst.text}, of {len(parts)} comparisons"
    return Outcome(text, verdict, note, _measurement(worst.sample))


def judge_any(parts: Sequence[Evidence], note: str = "") -> Outcome:
    """The outcome of a claim that holds if one part lies in its bounds, whichever it is.

    *held*: one interval lies in its bounds, at a level that Bonferroni's correction divides by the number of parts.
    *not held*: all lie wholly outside. Otherwise *undecided*. The number is the best part's. Raises NotTested without
    parts.
    """
    if not parts:
        raise NotTested("No setting has results of all that is compared")
    best = max(parts, key=lambda part: part.margin(None))
    inside = sum(part.side(LEVEL / len(parts)) == 0 for part in parts)
    lost = all(part.side(LEVEL) not in (0, None) for part in parts)
    text = f"in {inside} of {len(parts)} comparisons; at best {best.text}"
    return Outcome(text, HELD if inside else NOT_HELD if lost else UNDECIDED, note, _measurement(best.sample))


def exact_outcome(
    ours: str, held: bool, note: str = "", seeds: int | None = None, value: float | None = None
) -> Outcome:
    """The outcome of a claim about every single run, which needs no interval. seeds: of the runs. value: the number."""
    number = None if seeds is None and value is None else Measurement(value, None, None, seeds)
    return Outcome(ours, HELD if held else NOT_HELD, note, number)


def vacuous_outcome(ours: str, note: str) -> Outcome:
    """The outcome of a comparison of things that cannot differ."""
    return Outcome(ours, VACUOUS, note)


def _measurement(sample: Estimate) -> Measurement:
    low, high = sample.interval()
    return Measurement(sample.value, low, high, sample.count)
