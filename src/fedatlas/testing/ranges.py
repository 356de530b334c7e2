"""Conformance test of the declared ranges of hyper-parameters."""

from typing import Any

from fedatlas.errors import UserError
from fedatlas.registry.options import Option
from fedatlas.testing.implementation import Implementation
from fedatlas.testing.outcomes import Failed, NotApplicable, describe_error

MAX_STEPS = 1000  # integers from here on may count local steps, which would take too long


def ranges(implementation: Implementation) -> None:
    """Hyper-parameters at the ends of their declared ranges run, or are refused in a sentence before the first round.

    Excluded bounds are approached. On an open side a very large number is tried; it may diverge, or overflow double
    precision.
    """
    random_length = implementation.cls.overrides("length")  # extreme probabilities make rounds very long
    problem = implementation.smallest_problem
    for name, option in implementation.cls.options().items():
        for value, is_extreme in _end_values(option, random_length):
            for batch in (None,) if random_length else (2, None):
                values = {**implementation.values, name: value}
                options: dict[str, Any] = {"values": values, "batch": batch, "local_steps": 2}
                try:
                    implementation.simulate(problem, **options)
                except (UserError, NotApplicable):
                    break
                except Exception as error:
                    raise _failure(name, value, error) from None
                try:
                    implementation.run(problem, rounds=1 if random_length else 2, **options)
                except Exception as error:
                    if isinstance(error, UserError) and is_extreme:
                        break
                    raise _failure(name, value, error) from None


def _failure(name: str, value: Any, error: Exception) -> Failed:
    advice = "narrow the range in `option(...)`, as with `above=0`, or compute it otherwise"
    return Failed(f"With {name} = {value!r}, which its range allows, a run breaks: {advice}. {describe_error(error)}")


def _end_values(option: Option, random_length: bool) -> list[tuple[Any, bool]]:
    """Return values at and near the ends of an option's range, each with whether it is beyond practical use.

    Args:
        option: Option of the algorithm.
        random_length: Whether an extreme value may make rounds very long.
    """
    ends: list[tuple[Any, bool]] = [(word, False) for word in option.words]
    ends += [(value, False) for value in ([True, False, None] if bool in option.members else [None])]
    bounds = [(bound, False) for bound in (option.low, option.high) if bound is not None]
    if int in option.members and float not in option.members:
        ends += [(bound, False) for bound, _ in bounds if bound < MAX_STEPS]
    elif option.numeric:
        tiny, large = (1e-3, 1e3) if random_length else (1e-100, 1e100)
        ends += bounds
        ends += [(option.above + 1e-3, False), (option.above + tiny, True)] if option.above is not None else []
        ends += [(option.below - 1e-3, False), (option.below - 1e-9, True)] if option.below is not None else []
        ends += [(large, True)] if option.high is None and option.below is None else []
        ends += [(-large, True)] if option.low is None and option.above is None else []
    return [(value, is_extreme) for value, is_extreme in ends if option.fits(value)]
