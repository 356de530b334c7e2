"""Evidence on a claim: numbers over seeds with bounds, and the verdict that their intervals allow."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fedatlas.results.claims.verdicts import HELD, MORE, NOT_HELD, UNDECIDED, VACUOUS, Measurement, NotTested, Outcome
from fedatlas.results.comparing.intervals import LEVEL, Estimate

LISTED = 3  # numbers that a text lists; of a longer list it has the worst

Side = Literal["above", "below"] | None


@dataclass(frozen=True)
class Bounds:
    """The numbers that a claim allows. open: whether the lower end itself is excluded."""

    low: float = -math.inf
    high: float = math.inf
    open: bool = False

    def side(self, number: float) -> int:
        """Return 0 for an allowed number, -1 for a number that is too small, 1 for a number that is too large."""
        if number < self.low or (self.open and number == self.low):
            return -1
        return int(number > self.high)


@dataclass(frozen=True)
class Evidence:
    """A number on which a claim rests.

    estimate: the number with its interval. bounds: the numbers that the claim allows. template: a text with ``{}`` in
    the place of the number.
    """

    estimate: Estimate
    bounds: Bounds
    template: str = "{}"

    @property
    def text(self) -> str:
        """The number in words."""
        return self.template.replace("{}", str(self.estimate))  # not format(): names in the template may have braces

    def sides(self, level: float) -> set[int]:
        """Return the sides of the bounds on which the ends of the interval lie."""
        return set(map(self.bounds.side, self.estimate.interval(level)))

    def side(self, level: float) -> int | None:
        """Return the side of the bounds on which the whole interval lies; None if its ends lie on different sides."""
        sides = self.sides(level)
        return sides.pop() if len(sides) == 1 else None

    def margin(self, more: Side) -> float:
        """Return how far the interval lies inside the bounds, on the estimate's scale; negative outside.

        Args:
            more: Side on which the bounds do not count, because numbers beyond them pass.
        """
        low, high = self.estimate.interval()
        gaps = [self._gap(low, self.bounds.low), self._gap(self.bounds.high, high)]
        return min(gaps if more is None else gaps[:1] if more == "above" else gaps[1:])

    def _gap(self, large: float, small: float) -> float:
        if large == small or not (math.isfinite(large) and math.isfinite(small)):
            return 0.0 if large == small else math.copysign(math.inf, large - small)
        if self.estimate.ratio and large > 0 and small > 0:
            return math.log(large / small)
        return large - small


def judge_all(evidence: Sequence[Evidence], note: str = "", more: Side = None, separator: str = "; ") -> Outcome:
    """Return the outcome of a claim that holds if all numbers lie in their bounds, or beyond them on a side.

    *held*: every interval lies there, also if it crosses the line between the bounds and what is beyond. *held and
    more*: so it is, and at least one interval lies wholly beyond. *not held*: an interval lies wholly outside, at a
    level that Bonferroni's correction divides by the count of numbers. Otherwise *undecided*. The outcome's measurement
    is the worst number.

    Args:
        evidence: The numbers.
        note: Remark of the outcome.
        more: Side of the bounds on which the effect is larger than claimed.
        separator: Text between numbers.

    Raises:
        NotTested: If there are no numbers.
    """
    if not evidence:
        raise NotTested("No setting has results of all that is compared")
    passing = {None: {0}, "above": {0, 1}, "below": {0, -1}}[more]
    sides = [item.sides(LEVEL) for item in evidence]
    if {item.side(LEVEL / len(evidence)) for item in evidence} - passing - {None}:
        verdict = NOT_HELD
    elif all(ends <= passing for ends in sides):
        verdict = HELD if all(0 in ends for ends in sides) else MORE
    else:
        verdict = UNDECIDED
    worst = min(evidence, key=lambda item: item.margin(more))
    if len(evidence) <= LISTED:
        text = separator.join(item.text for item in evidence)
    else:
        text = f"at worst {worst.text}, of {len(evidence)} comparisons"
    return Outcome(text, verdict, note, _measurement(worst.estimate))


def judge_any(evidence: Sequence[Evidence], note: str = "") -> Outcome:
    """Return the outcome of a claim that holds if at least one number lies in its bounds, whichever it is.

    *held*: an interval lies in its bounds, at a level that Bonferroni's correction divides by the count of numbers.
    *not held*: all intervals lie wholly outside. Otherwise *undecided*. The outcome's measurement is the best number.

    Args:
        evidence: The numbers.
        note: Remark of the outcome.

    Raises:
        NotTested: If there are no numbers.
    """
    if not evidence:
        raise NotTested("No setting has results of all that is compared")
    best = max(evidence, key=lambda item: item.margin(None))
    inside = sum(item.side(LEVEL / len(evidence)) == 0 for item in evidence)
    outside = all(item.side(LEVEL) not in (0, None) for item in evidence)
    text = f"in {inside} of {len(evidence)} comparisons; at best {best.text}"
    return Outcome(text, HELD if inside else NOT_HELD if outside else UNDECIDED, note, _measurement(best.estimate))


def exact_outcome(
    text: str, held: bool, note: str = "", seeds: int | None = None, value: float | None = None
) -> Outcome:
    """Return the outcome of a claim about every single run, which needs no interval.

    Args:
        text: The results in words.
        held: Whether the claim holds.
        note: Remark of the outcome.
        seeds: Number of seeds of the runs.
        value: The number that decides.
    """
    measurement = None if seeds is None and value is None else Measurement(value, None, None, seeds)
    return Outcome(text, HELD if held else NOT_HELD, note, measurement)


def vacuous_outcome(text: str, note: str) -> Outcome:
    """Return the outcome of a comparison of things that cannot differ."""
    return Outcome(text, VACUOUS, note)


def _measurement(estimate: Estimate) -> Measurement:
    low, high = estimate.interval()
    return Measurement(estimate.value, low, high, estimate.count)
