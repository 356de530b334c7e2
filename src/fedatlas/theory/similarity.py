"""How much clients differ, and what the theorems on DANE+ and FedRed make of it."""

import math

import numpy as np

from fedatlas import algorithms, arrays
from fedatlas.errors import UserError
from fedatlas.problems.regression import Regression
from fedatlas.streams import stream
from fedatlas.theory.fedred import BOUNDS, Similarity

ITERATIONS, TOLERANCE = 200, 1e-4  # of the power method: at most, and the relative change at which it stops
CHOICES = ("eta", "lam", "p")


def dissimilarity(problem, clients, x, iterations=ITERATIONS, tolerance=TOLERANCE):
    """(delta_A, delta_B) of the Hessians at x: |mean_i D_i^2|^(1/2) and max_i |D_i| in spectral norm, with
    D_i = (Hessian of f_i) - (Hessian of f), by the power method on Hessian-vector products.

    Products are central differences of full gradients. FedRed's constants (Definitions 2 and 1) are suprema over all x:
    these are lower bounds.
    """
    batch, root = problem.full_batch(np.arange(clients)), _epsilon(x) ** (1 / 3)
    step = root * (1 + float(arrays.norm(x)[0]))

    def products(v):
        """The clients' Hessians times v, one vector or one for each."""
        return (batch.grad(x + step * v) - batch.grad(x - step * v)) / (2 * step)

    def mean(rows):
        return sum(rows[1:], start=rows[0]) / clients

    def of_one(v, i):
        """|D_i v| and D_i v."""
        each = products(v)
        apart = each[i] - mean(each)
        return float(arrays.norm(apart)[0]), apart

    def of_all(v, _):
        """(mean_i |D_i v|^2)^(1/2) and mean_i D_i^2 v, which is mean_i H_i D_i v since the D_i v sum to 0."""
        each = products(v)
        apart = each - mean(each)
        norms = arrays.norm(apart)
        return float((norms**2).mean()) ** 0.5, mean(products(arrays.unit(apart)) * norms)

    def largest(apply, i):
        v, norm = _like(x, stream(0, "evaluation", i).standard_normal(len(x))), 0.0
        for _ in range(iterations):
            last, (norm, following) = norm, apply(arrays.unit(v), i)
            if norm == 0 or abs(norm - last) <= tolerance * norm:
                break
            v = following
        return norm

    return largest(of_all, clients), max(largest(of_one, i) for i in range(clients))


def constants(problem, clients, x0=None):
    """(Similarity, how) of a problem whose clients differ; how: name -> how it was obtained.

    Synthetic quadratics know all of it. Elsewhere delta_A and delta_B are estimated at x0 and, where known, at the
    optimum. Raises UserError where L is unknown.
    """
    x0 = problem.start(0) if x0 is None else x0
    if problem.optimum is None and problem.solvable:
        problem.optimum = problem.solve()
    known, optimum = problem.constants(), problem.optimum
    if "delta_A" in known:
        values = {name: known[key] for name, key in (("mu", "mu_min"), ("L", "L_max"))}
        values |= {name: known[name] for name in ("delta_A", "delta_B")}
        how = {"mu": "exact: least curvature of any client", "L": "exact: largest curvature of any client"}
        how |= {"delta_A": "exact", "delta_B": "exact"}
    else:
        values, how = _estimated(problem, clients, x0)
    if optimum is not None:
        values["D0"], values["gap"] = float(np.linalg.norm(x0 - optimum.x)), problem.value(x0) - optimum.F
        how |= {"D0": "|x0 - x*|, x* from the solver", "gap": "f(x0) - f*, f* from the solver"}
    else:
        values["D0"] = values["gap"] = math.nan
        how |= {"D0": "unknown: no optimum", "gap": "unknown: no optimum"}
    return Similarity(**{name: float(value) for name, value in values.items()}), how


def _estimated(problem, clients, x0):
    points = {"x0": x0} | ({"x*": problem.optimum.x} if problem.optimum is not None else {})
    found = {at: dissimilarity(problem, clients, x) for at, x in points.items()}
    kind = "estimate, a lower bound: power method on Hessian-vector products at " + " and ".join(found)
    values = {"delta_A": max(a for a, _ in found.values()), "delta_B": max(b for _, b in found.values())}
    how = {"delta_A": kind, "delta_B": kind}
    if isinstance(problem, Regression):
        values |= {"mu": problem.l2, "L": problem.client_smoothness()}
        return values, {"mu": "the l2 weight, a lower bound", "L": "largest upper bound of any client"} | how
    values |= {"mu": -math.inf, "L": math.nan}
    return values, {"mu": "unknown: not convex", "L": "unknown"} | how


def rows(c, how, rounds, steps):
    """Rows of the report: constants, then theorems with their choices of eta, lambda and p and their bounds after so
    many rounds (DANE+) or iterations (FedRed); None where a theorem does not apply or a constant is unknown.

    needs: what a theorem that does not apply asks for. indicative: whether choices and bound rest on estimates of
    delta_A and delta_B, which are lower bounds: then the theorem is not known to hold for them.
    """
    estimated = how["delta_A"].startswith("estimate")
    values = {name: getattr(c, name) for name in how}
    found = [
        {"constant": name, "value": value if math.isfinite(value) else None, "how": how[name]}
        for name, value in values.items()
    ]
    for theorem in BOUNDS.values():
        row = {"theorem": theorem.name, "algorithm": theorem.algorithms[0], "quantity": theorem.quantity}
        needs = theorem.needs(c)
        row |= {"applies": needs is None, "needs": needs, "indicative": needs is None and estimated}
        row |= dict.fromkeys((*CHOICES, "count", "bound"))
        if row["applies"]:
            choices = theorem.choices(c)
            row |= {"count": rounds if theorem.counts == "round" else steps} | choices
            if all(math.isfinite(value) and value > 0 for value in choices.values()):
                bound = float(theorem.bound(c, _algorithm(theorem, choices, c), row["count"]))
                row["bound"] = bound if math.isfinite(bound) else None
        found.append(row)
    return found


def _algorithm(theorem, choices, c):
    cls = algorithms.get(theorem.algorithms[0])
    return cls(**{**choices, **({"mu": c.mu} if "mu" in cls.options() and c.mu >= 0 else {})})


def lines(found):
    """The rows as text."""
    for row in (row for row in found if "constant" in row):
        value = "-" if row["value"] is None else f"{row['value']:.5g}"
        yield f"{row['constant']:<9}{value:<12}{row['how']}"
    yield f"\n{'theorem':<9}{'algorithm':<12}{'eta':<11}{'lambda':<11}{'p':<11}{'bound':<11}on"
    for row in (row for row in found if "theorem" in row):
        start = f"{row['theorem']:<9}{row['algorithm']:<12}"
        if not row["applies"]:
            yield f"{start}does not apply: needs {row['needs']}"
            continue
        cells = ("-" if row[name] is None else f"{row[name]:.4g}" for name in (*CHOICES, "bound"))
        unit = "rounds" if row["algorithm"].startswith("dane") else "iterations"
        known = ", indicative" if row["indicative"] else ""
        yield f"{start}{''.join(f'{cell:<11}' for cell in cells)}{row['quantity']}, after {row['count']} {unit}{known}"
    if any(row.get("indicative") for row in found):
        yield "\nindicative: from estimates of delta_A and delta_B that are lower bounds; the theorem may ask for more"


def _epsilon(x):
    dtype = str(x.dtype).removeprefix("torch.")
    if dtype not in ("float32", "float64"):
        raise UserError(f"theory: differences of gradients need float32 or float64, not {dtype}")
    return float(np.finfo(dtype).eps)


def _like(x, v):
    return np.asarray(v, x.dtype) if isinstance(x, np.ndarray) else x.new_tensor(v)
