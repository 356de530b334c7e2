"""Optima: problems that are solved once."""

from typing import Any

from fedatlas import problems


def make(spec: dict[str, Any], out: str, directory: str | None = None) -> None:
    """Solve a problem and write its Optimum. spec: ``problem`` and ``clients``. directory: of the prepared data."""
    problems.create(spec["problem"], spec["clients"], directory).solve().save(out)
