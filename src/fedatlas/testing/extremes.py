"""A check that hyper-parameters run wherever they are allowed to be."""

from typing import Any

from fedatlas.errors import UserError
from fedatlas.registry.options import Option
from fedatlas.testing.candidate import Candidate
from fedatlas.testing.findings import Failed, NotApplicable, told

MANY = 1000  # local steps that would take too long


def ranges(candidate: Candidate) -> None:
    """Hyper-parameters at the ends of their declared ranges run, or are refused in a sentence before the first round.

    Bounds that are excluded are approached. Where there is no bound, a very large number is tried; it may diverge, or
    end in numbers beyond double precision.
    """
    slow = candidate.cls.overrides("length")
    for name, one in candidate.cls.options().items():
        for value, far in _ends(one, slow):
            for batch in (None,) if slow else (2, None):
                values = {**candidate.values, name: value}
                options: dict[str, Any] = {"values": values, "batch": batch, "local_steps": 2}
                try:
                    candidate.simulate(candidate.own, **options)
                except (UserError, NotApplicable):
                    break
                except Exception as error:
                    raise Failed(_broken(name, value, told(error))) from None
                try:
                    candidate.run(candidate.own, rounds=1 if slow else 2, **options)
                except Exception as error:
                    if isinstance(error, UserError) and far:
                        break
                    raise Failed(_broken(name, value, told(error))) from None


def _broken(name: str, value: Any, what: str) -> str:
    advice = "narrow the range in `option(...)`, as with `above=0`, or compute it otherwise"
    return f"With {name} = {value!r}, which its range allows, a run breaks: {advice}. {what}"


def _ends(one: Option, slow: bool) -> list[tuple[Any, bool]]:
    """Values at and near the ends of an option's range, and whether they are as far out as nobody would go.

    slow: whether an extreme value may make rounds very long.
    """
    choices = [*one.words, *([True, False] if bool in one.members else []), None]
    found: list[tuple[Any, bool]] = [(value, False) for value in choices]
    bounds = [bound for bound in (one.low, one.high) if bound is not None]
    if int in one.members and float not in one.members:
        found += [(bound, False) for bound in bounds if bound < MANY]
    elif one.numeric:
        tiny, large = (1e-3, 1e3) if slow else (1e-100, 1e100)
        found += [(bound, False) for bound in bounds]
        found += [(one.above + 1e-3, False), (one.above + tiny, True)] if one.above is not None else []
        found += [(one.below - 1e-3, False), (one.below - 1e-9, True)] if one.below is not None else []
        found += [(large, True)] if one.high is None and one.below is None else []
        found += [(-large, True)] if one.low is None and one.above is None else []
    return [(value, far) for value, far in found if one.fits(value)]
