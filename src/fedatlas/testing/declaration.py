"""Checks of what an algorithm declares: docstring, options, citation. They run nothing."""

import dataclasses
import inspect
import math
import re
from typing import Any

from fedatlas.errors import UserError, nearest
from fedatlas.registry import bibliography
from fedatlas.registry.options import Option
from fedatlas.testing.implementation import Implementation
from fedatlas.testing.outcomes import Failed

NEVER: tuple[Any, ...] = ("x", [0.1], {"a": 1}, math.nan)  # values that no hyper-parameter takes


def docstring(implementation: Implementation) -> None:
    """The docstring begins with one sentence on one line: "LABEL (source, with its year) is ...". Lists show it."""
    cls = implementation.cls
    label = getattr(cls, "label", None)
    if not label:
        raise Failed(f"The class {cls.__name__} has no label: write `label = ...`, the name in legends.")
    own = vars(cls).get("__doc__") or ""
    summary = cls.summary()
    wanted = f'begin the docstring of {cls.__name__} with "{label} (Author et al. 2026, Algorithm 1) is ...".'
    if not own or own.startswith(f"{cls.__name__}("):
        raise Failed(f"The class has no docstring: {wanted}")
    if not re.fullmatch(rf"{re.escape(label)}(?!\w).* is .+[A-Za-z0-9|)]\.", summary) or summary != own.splitlines()[0]:
        raise Failed(f"The first line is {own.splitlines()[0]!r}, and not one sentence on one line: {wanted}")
    if not re.search(r"\b(19[5-9]|20[0-9])\d\b", own):
        raise Failed(f"The docstring names no year of a source: {wanted}")


def options(implementation: Implementation) -> None:
    """The class is a frozen dataclass, and all fields are options with a meaning; whole numbers have a unit."""
    cls = implementation.cls
    known = cls.options()
    for one in dataclasses.fields(cls):
        if one.name not in known:
            raise Failed(f"The field {one.name} is no option: write `{one.name}: ... = option(doc=...)`.")
    for name, kind in vars(cls).get("__annotations__", {}).items():
        if name not in known and "ClassVar" not in str(kind):
            how = f"write `{name}: ... = option(doc=...)`, and `@dataclass(frozen=True, kw_only=True)` above the class"
            raise Failed(f"{name} has a type and is no option: {how}.")
    for name, option in known.items():
        if not option.doc:
            raise Failed(f"The option {name} has no meaning: write `option(doc=...)`.")
        if int in option.members and not option.unit and "seed" not in name:
            raise Failed(f'The option {name} counts something: say what, as in `option(unit="rounds")`.')


def refusals(implementation: Implementation) -> None:
    """Every value outside the declared type or range is refused in one sentence, where the algorithm is made."""
    cls = implementation.cls
    for name, one in cls.options().items():
        for value in (*NEVER, *_outside(one)):
            try:
                implementation.create({**implementation.values, name: value})
            except UserError as error:
                if f": {name} is " not in str(error) or "\n" in str(error):
                    raise Failed(
                        f"{name} = {value!r} is refused with {str(error)!r}, and not with such a sentence."
                    ) from None
            else:
                advice = "call super().__post_init__() first in __post_init__, which checks the values."
                raise Failed(f"{name} = {value!r} is accepted, and it must be {one.expected}: {advice}")
        try:
            cls(**{**implementation.values, name: "much"})
        except UserError:
            continue
        raise Failed(f"The constructor accepts {name} = 'much': call super().__post_init__() first in __post_init__.")


def _outside(one: Option) -> list[Any]:
    """Values that the declared type and range of an option exclude."""
    if not one.numeric:
        return [value for value in ("neither", 3.5) if not one.fits(value)]
    found: list[Any] = [-math.inf, math.inf, *([] if bool in one.members else [True])]
    if float not in one.members:
        found += [0.5, 3.0]
    if one.above is not None:
        found += [one.above, one.above - 1]
    if one.below is not None:
        found += [one.below, one.below + 1]
    if one.low is not None:
        found.append(math.nextafter(one.low, -math.inf))
    if one.high is not None:
        found.append(math.nextafter(one.high, math.inf))
    return found


def citation(implementation: Implementation) -> None:
    """``cite`` is a key of the bibliography."""
    key, known = getattr(implementation.cls, "cite", None), bibliography.entries()
    how = "add its BibTeX entry to references.bib; work in progress is a @misc with howpublished."
    if not key:
        raise Failed(f"The class {implementation.cls.__name__} cites nothing: write `cite = KEY`, and {how}")
    if key not in known:
        raise Failed(f"references.bib has no entry {key!r}{nearest(key, known)}: {how}")


def place(implementation: Implementation) -> str:
    """The file that declares the algorithm, or nothing where there is none."""
    try:
        return inspect.getfile(implementation.cls)
    except (OSError, TypeError):
        return ""
