"""Conformance tests of an algorithm's declaration: docstring, options, citation. They run no round."""

import dataclasses
import inspect
import re

from fedatlas.errors import UserError, nearest
from fedatlas.registry import bibliography
from fedatlas.registry.kinds import first_paragraph
from fedatlas.testing.implementation import Implementation
from fedatlas.testing.outcomes import Failed


def docstring(implementation: Implementation) -> None:
    """The docstring begins with one sentence on one line: "LABEL (source, with its year) is ...". Lists show it."""
    cls = implementation.cls
    label = getattr(cls, "label", None)
    if not label:
        raise Failed(f"The class {cls.__name__} has no label: write `label = ...`, the name in legends.")
    text = inspect.getdoc(cls) or "" if vars(cls).get("__doc__") else ""
    advice = f'begin the docstring of {cls.__name__} with "{label} (Author et al. 2026, Algorithm 1) is ...".'
    if not text or text.startswith(f"{cls.__name__}("):
        raise Failed(f"The class has no docstring: {advice}")
    summary, line = first_paragraph(cls), text.splitlines()[0]
    if not re.fullmatch(rf"{re.escape(label)}(?!\w).* is .+[A-Za-z0-9|)]\.", summary) or summary != line:
        raise Failed(f"The first line is {line!r}, and not one sentence on one line: {advice}")
    if not re.search(r"\b(19[5-9]|20[0-9])\d\b", text):
        raise Failed(f"The docstring names no year of a source: {advice}")


def options(implementation: Implementation) -> None:
    """The class is a frozen dataclass, and all fields are options with a meaning that refuse what does not fit."""
    cls = implementation.cls
    declared = cls.options()
    for field in dataclasses.fields(cls):
        if field.name not in declared:
            raise Failed(f"The field {field.name} is not an option: write `{field.name}: ... = option(doc=...)`.")
    for name, hint in vars(cls).get("__annotations__", {}).items():
        if name not in declared and "ClassVar" not in str(hint):
            advice = (
                f"write `{name}: ... = option(doc=...)`, and `@dataclass(frozen=True, kw_only=True)` above the class"
            )
            raise Failed(f"{name} has a type and is not an option: {advice}.")
    for name, option in declared.items():
        if not option.doc:
            raise Failed(f"The option {name} has no meaning: write `option(doc=...)`.")
        if int in option.members and not option.unit and "seed" not in name:
            raise Failed(f'The option {name} counts something: say what, as in `option(unit="rounds")`.')
        try:
            cls(**{**implementation.values, name: [option]})
        except UserError:
            continue
        raise Failed(
            f"{name} takes every value: call super().__post_init__() first in __post_init__, which checks the values."
        )


def citation(implementation: Implementation) -> None:
    """``cite`` is a key of the bibliography."""
    key, entries = getattr(implementation.cls, "cite", None), bibliography.entries()
    advice = "add its BibTeX entry to references.bib; work in progress is a @misc with howpublished."
    if not key:
        raise Failed(f"The class {implementation.cls.__name__} cites nothing: write `cite = KEY`, and {advice}")
    if key not in entries:
        raise Failed(f"references.bib has no entry {key!r}{nearest(key, entries)}: {advice}")
