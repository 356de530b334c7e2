"""Evidence on a claim: numbers over seeds with bounds, and the verdict that their intervals allow."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fedatlas.experiments import labels
from fedatlas.federation.metrics import metric
from fedatlas.results.claims.verdicts import (
    EQUAL,
    HELD,
    MORE,
    NOT_HELD,
    UNDECIDED,
    UNTESTED,
    NotTested,
    Outcome,
)
from fedatlas.results.comparing.intervals import LEVEL, Sample, analysis_level, share_interval

LISTED = 3  # numbers that a text lists; of a longer list it has the one that decides

Side = Literal["above", "below"] | None


@dataclass(frozen=True)
class Unit:
    """The unit in which a number is told.

    Attributes:
        scale: How many of it are one of the number.
        ending: The text after the number.
    """

    scale: float = 1
    ending: str = ""

    def tell(self, *numbers: float) -> str:
        """Return a number in the unit, in words, or numbers that are compared: ``88.5 against 87.2 %``."""
        return " against ".join(labels.number(self.scale * number) for number in numbers) + self.ending


PLAIN = Unit()


def level_unit(name: str, ending: str = " %") -> Unit:
    """Return the unit of a metric: percent for shares, such as accuracies, of which differences are ``points``."""
    return Unit(100, ending) if metric(name).percent else PLAIN


def is_accuracy(name: str) -> bool:
    """Return whether a metric is an accuracy, of which what it lacks of 1 says how good it is."""
    return name.endswith("accuracy") or (metric(name).percent and metric(name).larger_is_better)


def smallest_effect(name: str, value: float, share: float) -> float:
    """Return the smallest difference from a value of a metric that matters.

    Args:
        name: The metric.
        value: The value, of an accuracy from 0 to 1.
        share: Share of the value that matters, or, of an accuracy, of what it lacks of 1.
    """
    return share * (1 - value if is_accuracy(name) else abs(value))


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

    def without(self, more: Side) -> "Bounds":
        """Return the bounds without the end beyond which numbers pass as well."""
        if more is None:
            return self
        return replace(self, high=math.inf) if more == "above" else replace(self, low=-math.inf, open=False)


@dataclass(frozen=True)
class Evidence:
    """A number on which a claim rests.

    estimate: the number with its interval. bounds: the numbers that the claim allows. template: a text with ``{}`` in
    the place of the number. equality: the numbers that differ from equality by less than what matters, where the claim
    is that one side is ahead. words: the words after the number where two sides are compared, such as ``times better``
    and ``times worse``: a ratio below 1, or a negative difference, is told with the second, as seen from the other
    side. unit: the unit in which the number is told.
    """

    estimate: Sample
    bounds: Bounds
    template: str = "{}"
    equality: Bounds | None = None
    words: tuple[str, str] | None = None
    unit: Unit = PLAIN

    @property
    def text(self) -> str:
        """The number in words."""
        turned = self.words is not None and self.estimate.value < (1 if self.estimate.log else 0)
        number = self.estimate.text(turned=turned, scale=self.unit.scale) + self.unit.ending
        if self.words:
            number += f" {self.words[turned]}"
        return self.template.replace("{}", number)  # not format(): names in the template may have braces

    def sides(self, level: float) -> set[int]:
        """Return the sides of the bounds on which the ends of the interval lie."""
        return set(map(self.bounds.side, self.estimate.interval(level)))

    def is_equal(self, level: float) -> bool:
        """Return whether the whole interval differs from equality by less than what matters."""
        return self.equality is not None and {0} == set(map(self.equality.side, self.estimate.interval(level)))

    def margin(self, more: Side = None) -> float:
        """Return how far the interval lies inside the bounds, on the estimate's scale; negative outside.

        Args:
            more: Side on which the bounds do not count, because numbers beyond them pass.
        """
        low, high = self.estimate.interval()
        bounds = self.bounds.without(more)
        return min(self._gap(low, bounds.low), self._gap(bounds.high, high))

    def excess(self, more: Side = None) -> float:
        """Return how far the whole interval lies outside the bounds, on the estimate's scale; negative elsewhere."""
        low, high = self.estimate.interval()
        bounds = self.bounds.without(more)
        return max(self._gap(low, bounds.high), self._gap(bounds.low, high))

    def p_value(self, verdict: str, more: Side = None) -> float | None:
        """Return the smallest level at which the interval decides in one way, or None where no test gives it.

        Args:
            verdict: HELD, EQUAL or NOT_HELD.
            more: Side on which the bounds do not count.
        """
        bounds = self.equality if verdict == EQUAL and self.equality else self.bounds.without(more)
        ends = [end for end in (bounds.low, bounds.high) if math.isfinite(end)]
        if verdict == NOT_HELD:  # the bound that is violated
            ends = [end for end in ends if bounds.side(self.estimate.value) == (-1 if end == bounds.low else 1)]
        p_values = [p for p in map(self.estimate.p_value, ends) if p is not None]
        return max(p_values, default=None)

    def _gap(self, large: float, small: float) -> float:
        if large == small or not (math.isfinite(large) and math.isfinite(small)):
            return 0.0 if large == small else math.copysign(math.inf, large - small)
        if self.estimate.log and large > 0 and small > 0:
            return math.log(large / small)
        return large - small


def judge_all(
    evidence: Sequence[Evidence],
    note: str = "",
    more: Side = None,
    failed: Sequence[str] = (),
    shown: Evidence | None = None,
    some: bool = False,
) -> Outcome:
    """Return the outcome of a claim that holds if all numbers lie in their bounds, or beyond them on a side.

    *held*: every interval lies there, also if it crosses the line between the bounds and what is beyond. *held and
    more*: so it is, and at least one interval lies wholly beyond. *equal*: so it is, except for intervals that differ
    from equality by less than what matters. *not held*: an interval lies wholly outside and is not equal, at a level
    that Bonferroni's correction divides by the count of numbers. Otherwise *undecided*.

    With ``some`` one number in its bounds is enough. *held*: an interval lies in its bounds, at the divided level, and
    is not equal. *not held*: all intervals lie wholly outside. *equal*: all lie outside or are equal.

    The outcome's measurement is ``shown``, by default the number that decides: the one that lies farthest outside if
    the claim is not held; the worst of those that are undecided, or equal, if it is; otherwise the one with the least
    margin; with ``some`` the best.

    Args:
        evidence: The numbers.
        note: Remark of the outcome.
        more: Side of the bounds on which the effect is larger than claimed; not with ``some``.
        failed: Sentences on what is left out because an algorithm that was not tuned failed. Then the verdict is that
            of the remaining numbers if one of them decides it, and else the claim is not tested.
        shown: The number that a text on many of them has.
        some: Whether one number is enough.

    Raises:
        NotTested: If there are no numbers, and nothing was left out.
    """
    if not evidence:
        if not failed:
            raise NotTested("No setting has results of all that is compared")
        return Outcome("", UNTESTED, labels.join_sentences(*dict.fromkeys(failed), note))
    passing, count, level = {None: {0}, "above": {0, 1}, "below": {0, -1}}[more], len(evidence), analysis_level()
    equal = [item for item in evidence if item.is_equal(level)]
    rest = [item for item in evidence if item not in equal]

    def lies(item: Evidence, inside: bool, level: float) -> bool:
        sides = item.sides(level)
        return sides <= passing if inside else len(sides) == 1 and not sides <= passing

    deciding = [item for item in rest if lies(item, some, level / count)]  # of which one is enough
    undecided = [item for item in rest if not lies(item, not some, level)]
    if deciding:
        verdict = HELD if some else NOT_HELD
    elif failed:
        verdict = UNTESTED
    else:
        verdict = UNDECIDED if undecided else EQUAL if equal else NOT_HELD if some else HELD
        if verdict == HELD and not all(0 in item.sides(level) for item in evidence):
            verdict = MORE
    if some:
        decisive = max(evidence, key=lambda item: item.margin())
        text = f"in {len(deciding)} of {count} comparisons; at best {decisive.text}"
        p = decisive.p_value(NOT_HELD if decisive.bounds.side(decisive.estimate.value) else HELD)
        p = None if p is None else min(1.0, count * p)
    else:
        if deciding:
            decisive = max(deciding, key=lambda item: item.excess(more))
        else:
            decisive = min(undecided or equal or evidence, key=lambda item: item.margin(more))
        text = f"at worst {decisive.text}, of {count} comparisons"
        if shown is not None and count > 1:
            text = f"{shown.text}, of {count} comparisons"
        elif count <= LISTED:
            text = "; ".join(item.text for item in evidence)
        p = _p_value(evidence, deciding, equal, more)
    number = (shown or decisive).estimate
    remark = labels.join_sentences(*dict.fromkeys(failed), _seeds_remark(evidence), note)
    return Outcome(text, verdict, remark, number.value, *number.interval(), number.count, p)


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
    return Outcome(text, HELD if held else NOT_HELD, note, value, seeds=seeds)


def _p_value(
    evidence: Sequence[Evidence], refuting: Sequence[Evidence], equal: Sequence[Evidence], more: Side
) -> float | None:
    """Return the smallest level at which a claim about all numbers is decided as it is.

    It is refuted where the smallest p-value is, times the count of numbers (Bonferroni). It is shown where the largest
    is (Berger 1982).
    """
    outside = refuting or [
        item for item in evidence if item not in equal and item.bounds.without(more).side(item.estimate.value) != 0
    ]
    if outside:
        p_values = [p for item in outside if (p := item.p_value(NOT_HELD, more)) is not None]
        return min(1.0, len(evidence) * min(p_values)) if p_values else None
    p_values = [p for item in evidence if (p := item.p_value(EQUAL if item in equal else HELD, more)) is not None]
    return max(p_values, default=None)


def _seeds_remark(evidence: Sequence[Evidence]) -> str:
    """Return a sentence on how seeds decide: a single one of deterministic runs, or several of which some failed."""
    estimates = [item.estimate for item in evidence]
    if all(estimate.count == 1 and len(set(estimate.interval())) == 1 for estimate in estimates):
        return "The runs are deterministic, so one seed decides."
    worst = max(estimates, key=lambda estimate: estimate.failures)
    if not worst.failures:
        return ""
    low, high = (labels.number(100 * end) for end in share_interval(worst.failures, worst.count, LEVEL))
    return (
        f"On {worst.failures} of {worst.count} seeds ({low} to {high} percent) a side failed, so the typical run is "
        "judged, and not the mean."
    )
