"""`fedatlas theory`: what the theorems say about a problem and a setting."""

from fedatlas import problems
from fedatlas.errors import UserError
from fedatlas.theory import similarity
from fedatlas.theory.constants import estimate
from fedatlas.theory.theorems import THEOREMS


def report(problem_spec, clients, local_steps, steps, directory=None, show=print):
    """Constants of a problem, then each theorem's hyper-parameters and bound: FedAc's where all clients share the data,
    those on DANE+ and FedRed (see ``similarity.rows``) where they differ.

    problem_spec: as for ``problems.create``. clients, local_steps: M, K. steps: T, cut to whole rounds. show: called
    with each line of text; None for none. Returns rows: ``{"constant", "value", "how"}``, then ``{"theorem", "paper",
    "algorithm", "assumptions", "applies", "eta", "gamma", "lambda", "bound", "terms"}``, the last five None where the
    theorem does not apply. A bound above F(x0) - F* is true and says nothing. Raises UserError.
    """
    if clients < 1 or local_steps < 1 or steps < local_steps:
        raise UserError("theory: clients and local steps must be at least 1, and steps at least one round of them")
    T = steps // local_steps * local_steps
    problem = problems.create(problem_spec, clients, directory)
    if not problem.shared:
        found = similarity.rows(*similarity.constants(problem, clients), T // local_steps, T)
        for line in similarity.lines(found) if show else ():
            show(line)
        return found
    where = (estimate(problem), clients, local_steps, T)
    constants = [{"constant": name, "value": getattr(where[0], name), "how": how} for name, how in where[0].how.items()]
    rows = [_row(theorem, where) for theorem in THEOREMS.values()]
    if show:
        show(f"M = {clients} clients, K = {local_steps} local steps, R = {T // local_steps} rounds, T = {T} steps\n")
        for row in constants:
            show(f"{row['constant']:<7} {row['value']:<11.5g} {row['how']}")
        head = _cells(("eta", "gamma", "lambda", "bound"))
        show(f"\n{'theorem':<8}{'paper':<9}{'algorithm':<14}{head}largest term")
        for row, theorem in zip(rows, THEOREMS.values(), strict=True):
            show(_line(row, theorem, where[0].gap))
    return constants + rows


def _row(theorem, where):
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


def _line(row, theorem, gap):
    start = f"{row['theorem']:<8}{row['paper']:<9}{row['algorithm']:<14}"
    if not row["applies"]:
        return f"{start}does not apply: needs {theorem.assumptions} and T >= {theorem.least_steps}"
    numbers = (row[name] for name in ("eta", "gamma", "lambda", "bound"))
    cells = _cells("-" if number is None else f"{number:.4g}" for number in numbers)
    vacuous = ", above F(x0) - F*" if row["bound"] >= gap else ""
    return f"{start}{cells}{max(row['terms'], key=row['terms'].get)}{vacuous}"


def _cells(texts):
    return "".join(f"{text:<12}" for text in texts)
