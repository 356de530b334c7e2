"""Constants, hyper-parameters and bounds of the papers' theorems for a problem: the content of `fedatlas theory`."""

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.federation import algorithms
from fedatlas.federation.problems import interactive
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedac.constants import fedac_constants
from fedatlas.theory.fedac.theorem import FedAcConstants, FedAcTheorem
from fedatlas.theory.fedred import FEDRED_BOUNDS
from fedatlas.theory.fedred.bound import FedRedConstants
from fedatlas.theory.fedred.constants import fedred_constants
from fedatlas.theory.theorem import unmet

TheoremRows = list[dict[str, Any]]
CHOICES = ("eta", "lam", "p")


@np.errstate(over="ignore")  # a number that overflows is infinite, and is refused later
def evaluate_theorems(
    problem_spec: dict[str, Any],
    clients: int,
    local_steps: int,
    steps: int,
    directory: str | Path | None = None,
    show: Callable[[str], object] | None = print,
) -> TheoremRows:
    """Return constants of a problem, then hyper-parameters and bound of each theorem, and show them as text.

    The theorems are those on FedAc where all clients share the data, and those on DANE+ and FedRed where they differ. A
    bound above F(x0) - F* is true and says nothing.

    Args:
        problem_spec: Specification of the problem, as for ``interactive.create``.
        clients: Number of clients M.
        local_steps: Local steps K of a round.
        steps: Number of steps T, cut to whole rounds.
        directory: Directory of the prepared data.
        show: Function that is called with each line of text; None shows nothing.

    Returns:
        The rows of `fedac_rows` or `fedred_rows`.

    Raises:
        UserError: If a number is too small, or the problem's constants are not known.
    """
    if clients < 1 or local_steps < 1 or steps < local_steps:
        raise UserError("theory: clients and local steps must be at least 1, and steps at least one round of them")
    rounds = steps // local_steps
    problem = interactive.create(problem_spec, clients, directory)
    if problem.shared:
        constants = dataclasses.replace(fedac_constants(problem), M=clients, K=local_steps)
        rows = fedac_rows(constants, rounds)
        lines = _fedac_lines(rows, constants, rounds)
    else:
        rows = fedred_rows(*fedred_constants(problem, clients), rounds, rounds * local_steps)
        lines = fedred_lines(rows)
    if show is not None:
        for line in lines:
            show(line)
    return rows


def fedac_rows(c: FedAcConstants, rounds: int) -> TheoremRows:
    """Return rows on the theorems of the FedAc paper.

    Args:
        c: The constants.
        rounds: Number of rounds after which the bounds are taken.

    Returns:
        Rows with ``constant``, ``value`` and ``how``; then a row for each theorem with ``theorem``, ``paper``,
        ``algorithm``, ``assumptions``, ``applies``, ``eta``, ``gamma``, ``lambda``, ``bound`` and ``terms``, the last
        five None where the theorem does not apply.
    """
    rows = [{"constant": name, "value": getattr(c, name), "how": text} for name, text in c.how.items()]
    return rows + [_fedac_row(theorem, c, rounds) for theorem in FEDAC_THEOREMS.values()]


def _fedac_row(theorem: FedAcTheorem, c: FedAcConstants, rounds: int) -> dict[str, Any]:
    applies, T = unmet(theorem.requirements(c, rounds)) is None, c.K * rounds
    row = {
        "theorem": theorem.name,
        "paper": theorem.short,
        "algorithm": theorem.algorithm,
        "assumptions": theorem.assumptions,
        "applies": applies,
    }
    if not applies:
        return row | dict.fromkeys(("eta", "gamma", "lambda", "bound", "terms"))
    return row | {
        "eta": theorem.step_size(c, T),
        "gamma": theorem.gamma(c, rounds),
        "lambda": theorem.augmentation(c, T) or None,
        "bound": sum(theorem.terms(c, T).values()),
        "terms": theorem.terms(c, T),
    }


def _fedac_lines(rows: TheoremRows, c: FedAcConstants, rounds: int) -> Iterator[str]:
    yield f"M = {c.M} clients, K = {c.K} local steps, R = {rounds} rounds, T = {c.K * rounds} steps\n"
    for row in (row for row in rows if "constant" in row):
        yield f"{row['constant']:<7} {row['value']:<11.5g} {row['how']}"
    head = _columns(("eta", "gamma", "lambda", "bound"))
    yield f"\n{'theorem':<8}{'paper':<9}{'algorithm':<14}{head}largest term"
    for row in (row for row in rows if "theorem" in row):
        start = f"{row['theorem']:<8}{row['paper']:<9}{row['algorithm']:<14}"
        if not row["applies"]:
            yield f"{start}does not apply: needs {unmet(FEDAC_THEOREMS[row['theorem']].requirements(c, rounds))}"
            continue
        numbers = (row[name] for name in ("eta", "gamma", "lambda", "bound"))
        columns = _columns("-" if number is None else f"{number:.4g}" for number in numbers)
        vacuous = ", above F(x0) - F*" if row["bound"] >= c.gap else ""
        yield f"{start}{columns}{max(row['terms'], key=row['terms'].get)}{vacuous}"


def _columns(texts: Iterable[str]) -> str:
    return "".join(f"{text:<12}" for text in texts)


def fedred_rows(c: FedRedConstants, origins: dict[str, str], rounds: int, steps: int) -> TheoremRows:
    """Return rows on the theorems of the FedRed paper, on DANE, DANE+ and FedRed.

    Args:
        c: The constants.
        origins: For each constant, a text about how it was obtained.
        rounds: Number of rounds after which the bounds of DANE+ are taken.
        steps: Number of steps after which the bounds of FedRed are taken.

    Returns:
        Rows with ``constant``, ``value`` and ``how``, the value None where it is unknown; then a row for each theorem
        with ``theorem``, ``algorithm``, ``quantity``, ``applies``, ``needs`` (the condition of a theorem that does not
        apply), ``indicative``, ``eta``, ``lam``, ``p``, ``count`` and ``bound``, the last five None where the theorem
        does not apply, or has no such choice or none that is a number. A row is indicative where choices and bound
        rest on estimates of delta_A and delta_B: these are lower bounds, so the theorem need not hold for them.
    """
    estimated = origins["delta_A"].startswith("estimate")
    values = {name: getattr(c, name) for name in origins}
    rows: TheoremRows = [
        {"constant": name, "value": value if math.isfinite(value) else None, "how": origins[name]}
        for name, value in values.items()
    ]
    for theorem in FEDRED_BOUNDS.values():
        row: dict[str, Any] = {
            "theorem": theorem.name,
            "algorithm": theorem.algorithms[0],
            "quantity": theorem.quantity,
        }
        needs = unmet(theorem.requirements(c, rounds))
        row |= {"applies": needs is None, "needs": needs, "indicative": needs is None and estimated}
        row |= dict.fromkeys((*CHOICES, "count", "bound"))
        if row["applies"]:
            choices = theorem.choices(c, rounds)
            row["count"] = rounds if theorem.counts == "round" else steps
            row |= {name: value if math.isfinite(value) else None for name, value in choices.items()}
            if all(math.isfinite(value) and value > 0 for value in choices.values()):
                if "mu" in algorithms.get(row["algorithm"]).options() and c.mu >= 0:
                    choices = choices | {"mu": c.mu}
                bound = float(theorem.bound(c, algorithms.create(row["algorithm"], choices), row["count"]))
                row["bound"] = bound if math.isfinite(bound) else None
        rows.append(row)
    return rows


def fedred_lines(rows: TheoremRows) -> Iterator[str]:
    """Yield the rows of `fedred_rows` as lines of text."""
    for row in (row for row in rows if "constant" in row):
        value = "-" if row["value"] is None else f"{row['value']:.5g}"
        yield f"{row['constant']:<9}{value:<12}{row['how']}"
    yield f"\n{'theorem':<9}{'algorithm':<15}{'eta':<11}{'lambda':<11}{'p':<11}{'bound':<11}on"
    for row in (row for row in rows if "theorem" in row):
        start = f"{row['theorem']:<9}{row['algorithm']:<15}"
        if not row["applies"]:
            yield f"{start}does not apply: needs {row['needs']}"
            continue
        numbers = ("-" if row[name] is None else f"{row[name]:.4g}" for name in (*CHOICES, "bound"))
        columns = "".join(f"{number:<11}" for number in numbers)
        unit = "rounds" if row["algorithm"].startswith("dane") else "iterations"
        remark = ", indicative" if row["indicative"] else ""
        quantity = row["quantity"].replace("$", "").replace(r"\mu", "mu").replace(r"\,", " ").replace("^*", "*")
        yield f"{start}{columns}{quantity}, after {row['count']} {unit}{remark}"
    if any(row.get("indicative") for row in rows):
        yield "\nindicative: from estimates of delta_A and delta_B that are lower bounds; the theorem may ask for more"
