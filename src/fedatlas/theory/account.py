"""What `fedatlas theory` prints: what theorems say about a problem and a setting."""

import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import algorithms
from fedatlas.federation.algorithms.base import Algorithm
from fedatlas.federation.problems import interactive
from fedatlas.theory.bound import Bound, Similarity
from fedatlas.theory.constants import estimate
from fedatlas.theory.fedac import THEOREMS
from fedatlas.theory.fedred import BOUNDS
from fedatlas.theory.similarity import constants
from fedatlas.theory.theorem import Constants, Theorem

Rows = list[dict[str, Any]]
Where = tuple[Constants, int, int, int]  # constants, M, K, T
CHOICES = ("eta", "lam", "p")


@np.errstate(over="ignore")  # a number that overflows is infinite, and is refused later
def account(
    problem_spec: dict[str, Any],
    clients: int,
    local_steps: int,
    steps: int,
    directory: str | Path | None = None,
    show: Callable[[str], object] | None = print,
) -> Rows:
    """Constants of a problem, then hyper-parameters and bound of each theorem.

    The theorems are those on FedAc where all clients share the data, and those on DANE+ and FedRed where they differ.

    problem_spec: as for ``interactive.create``. clients, local_steps: M, K. steps: T, cut to whole rounds. directory: of
    the prepared data. show: called with each line of text; None for none. Returns the rows of `fedac_rows` or
    `fedred_rows`. A bound above F(x0) - F* is true and says nothing. Raises UserError if the problem's constants are
    not known.
    """
    if clients < 1 or local_steps < 1 or steps < local_steps:
        raise UserError("theory: clients and local steps must be at least 1, and steps at least one round of them")
    T = steps // local_steps * local_steps
    problem = interactive.create(problem_spec, clients, directory)
    if problem.shared:
        where = (estimate(problem), clients, local_steps, T)
        rows = fedac_rows(where)
        lines = _fedac_lines(rows, where)
    else:
        rows = fedred_rows(*constants(problem, clients), T // local_steps, T)
        lines = fedred_lines(rows)
    if show is not None:
        for line in lines:
            show(line)
    return rows


def fedac_rows(where: Where) -> Rows:
    """Rows on FedAc.

    where: constants, M, K and T. The first rows have ``constant``, ``value`` and ``how``; then one for each theorem has
    ``theorem``, ``paper``, ``algorithm``, ``assumptions``, ``applies``, ``eta``, ``gamma``, ``lambda``, ``bound`` and
    ``terms``, the last five None where the theorem does not apply.
    """
    how = where[0].how.items()
    found = [{"constant": name, "value": getattr(where[0], name), "how": text} for name, text in how]
    return found + [_fedac_row(theorem, where) for theorem in THEOREMS.values()]


def _fedac_row(theorem: Theorem, where: Where) -> dict[str, Any]:
    applies = theorem.applies(*where)
    found = {
        "theorem": theorem.name,
        "paper": theorem.short,
        "algorithm": theorem.algorithm,
        "assumptions": theorem.assumptions,
        "applies": applies,
    }
    if not applies:
        return found | dict.fromkeys(("eta", "gamma", "lambda", "bound", "terms"))
    return found | {
        "eta": theorem.step_size(*where),
        "gamma": theorem.gamma(*where),
        "lambda": theorem.augmentation(*where) or None,
        "bound": theorem.bound(*where),
        "terms": theorem.terms(*where),
    }


def _fedac_lines(rows: Rows, where: Where) -> Iterator[str]:
    c, M, K, T = where
    yield f"M = {M} clients, K = {K} local steps, R = {T // K} rounds, T = {T} steps\n"
    for row in (row for row in rows if "constant" in row):
        yield f"{row['constant']:<7} {row['value']:<11.5g} {row['how']}"
    head = _cells(("eta", "gamma", "lambda", "bound"))
    yield f"\n{'theorem':<8}{'paper':<9}{'algorithm':<14}{head}largest term"
    for row in (row for row in rows if "theorem" in row):
        start = f"{row['theorem']:<8}{row['paper']:<9}{row['algorithm']:<14}"
        if not row["applies"]:
            least = THEOREMS[row["theorem"]].least_steps
            yield f"{start}does not apply: needs {row['assumptions']} and T >= {least}"
            continue
        numbers = (row[name] for name in ("eta", "gamma", "lambda", "bound"))
        cells = _cells("-" if number is None else f"{number:.4g}" for number in numbers)
        vacuous = ", above F(x0) - F*" if row["bound"] >= c.gap else ""
        yield f"{start}{cells}{max(row['terms'], key=row['terms'].get)}{vacuous}"


def _cells(texts: Iterable[str]) -> str:
    return "".join(f"{text:<12}" for text in texts)


def fedred_rows(c: Similarity, how: dict[str, str], rounds: int, steps: int) -> Rows:
    """Rows on DANE+ and FedRed.

    how: for each constant, how it was obtained. rounds, steps: after which the bounds of DANE+ and of FedRed are taken.
    The first rows have ``constant``, ``value`` and ``how``, the value None where it is unknown. Then one for each
    theorem has ``theorem``, ``algorithm``, ``quantity``, ``applies``, ``needs`` (what a theorem that does not apply
    asks for), ``indicative``, ``eta``, ``lam``, ``p``, ``count`` and ``bound``, the last five None where the theorem
    does not apply, or has no such choice or none that is a number. A row is indicative where choices and bound rest on
    estimates of delta_A and delta_B: these are lower bounds, so the theorem need not hold for them.
    """
    estimated = how["delta_A"].startswith("estimate")
    values = {name: getattr(c, name) for name in how}
    found: Rows = [
        {"constant": name, "value": value if math.isfinite(value) else None, "how": how[name]}
        for name, value in values.items()
    ]
    for theorem in BOUNDS.values():
        row: dict[str, Any] = {
            "theorem": theorem.name,
            "algorithm": theorem.algorithms[0],
            "quantity": theorem.quantity,
        }
        needs = theorem.needs(c)
        row |= {"applies": needs is None, "needs": needs, "indicative": needs is None and estimated}
        row |= dict.fromkeys((*CHOICES, "count", "bound"))
        if row["applies"]:
            choices = theorem.choices(c)
            row["count"] = rounds if theorem.counts == "round" else steps
            row |= {name: value if math.isfinite(value) else None for name, value in choices.items()}
            if all(math.isfinite(value) and value > 0 for value in choices.values()):
                bound = float(theorem.bound(c, _algorithm(theorem, choices, c), row["count"]))
                row["bound"] = bound if math.isfinite(bound) else None
        found.append(row)
    return found


def _algorithm(theorem: Bound, choices: dict[str, float], c: Similarity) -> Algorithm:
    name = theorem.algorithms[0]
    known = {"mu": c.mu} if "mu" in algorithms.get(name).options() and c.mu >= 0 else {}
    return algorithms.create(name, choices | known)


def fedred_lines(rows: Rows) -> Iterator[str]:
    """The rows of `fedred_rows` as text."""
    for row in (row for row in rows if "constant" in row):
        value = "-" if row["value"] is None else f"{row['value']:.5g}"
        yield f"{row['constant']:<9}{value:<12}{row['how']}"
    yield f"\n{'theorem':<9}{'algorithm':<12}{'eta':<11}{'lambda':<11}{'p':<11}{'bound':<11}on"
    for row in (row for row in rows if "theorem" in row):
        start = f"{row['theorem']:<9}{row['algorithm']:<12}"
        if not row["applies"]:
            yield f"{start}does not apply: needs {row['needs']}"
            continue
        cells = ("-" if row[name] is None else f"{row[name]:.4g}" for name in (*CHOICES, "bound"))
        unit = "rounds" if row["algorithm"].startswith("dane") else "iterations"
        known = ", indicative" if row["indicative"] else ""
        yield f"{start}{''.join(f'{cell:<11}' for cell in cells)}{row['quantity']}, after {row['count']} {unit}{known}"
    if any(row.get("indicative") for row in rows):
        yield "\nindicative: from estimates of delta_A and delta_B that are lower bounds; the theorem may ask for more"
