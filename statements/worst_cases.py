"""`python -m statements.worst_cases` computes worst cases over all functions and writes worst_cases.csv.

Performance estimation (PEPit, the extra `statements`) finds them by semidefinite programs: the tight constant of a
statement on smooth or convex functions of any dimension, beside the paper's.
"""

import csv
from pathlib import Path

import numpy as np

TABLE = Path(__file__).with_name("worst_cases.csv")
FIELDS = ("paper", "statement", "case", "tight", "bound")


def gradient(L=1.0):
    """Lemma 7 of FedSPS: the largest |grad f(x)|^2 where f(x) - f* <= 1."""
    from PEPit import PEP
    from PEPit.functions import SmoothConvexFunction

    problem = PEP()
    f = problem.declare_function(SmoothConvexFunction, L=L)
    best, x = f.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition(f(x) - f(best) <= 1)
    problem.set_performance_metric(f.gradient(x) ** 2)
    return problem.solve(verbose=0), 2 * L


def local_steps(s, L=1.0):
    """Lemma 5 of FedAWE: the largest |sum_r (grad F(x^r) - grad F(x))|^2 for eta_l = 1 / (4 s L), |grad F(x)| <= 1."""
    from PEPit import PEP
    from PEPit.functions import SmoothFunction

    eta, problem = 1 / (4 * s * L), PEP()
    F = problem.declare_function(SmoothFunction, L=L)
    x = y = problem.set_initial_point()
    start, total = F.gradient(x), 0 * x
    problem.set_initial_condition(start**2 <= 1)
    for _ in range(s):
        slope = F.gradient(y)
        total, y = total + slope - start, y - eta * slope
    problem.set_performance_metric(total**2)
    return problem.solve(verbose=0), 16 * eta**2 * s**4 * L**2


def proximal_rounds(R, lam=1.0):
    """Corollary 21 of FedRed with one client: the largest f(x^R) - f* after R exact proximal steps, |x^0 - x*| <= 1."""
    from PEPit import PEP
    from PEPit.functions import ConvexFunction
    from PEPit.primitive_steps import proximal_step

    problem = PEP()
    f = problem.declare_function(ConvexFunction)
    best, x = f.stationary_point(), problem.set_initial_point()
    problem.set_initial_condition((x - best) ** 2 <= 1)
    for _ in range(R):
        x, _, value = proximal_step(x, f, 1 / lam)
    problem.set_performance_metric(value - f(best))
    return problem.solve(verbose=0), lam / (2 * R)


def control_variates(mu, L=1.0):
    """Corollary 32 of FedRed with two clients: the largest potential after one round, where it is 1 before."""
    from PEPit import PEP
    from PEPit.functions import SmoothStronglyConvexFunction
    from PEPit.primitive_steps import proximal_step

    problem, lam = PEP(), np.sqrt(mu * L)
    one, two = (problem.declare_function(SmoothStronglyConvexFunction, mu=mu, L=L) for _ in range(2))
    best, x, h = ((one + two) / 2).stationary_point(), problem.set_initial_point(), problem.set_initial_point()
    goals, weight = (one.gradient(best), two.gradient(best)), (mu + L) / (mu * L * (mu + L) + 2 * mu * L * lam)

    def potential(x, variates):
        apart = [(variate - goal) ** 2 for variate, goal in zip(variates, goals, strict=True)]
        return (x - best) ** 2 + weight * (apart[0] + apart[1]) / 2

    variates = (h, -h)
    problem.set_initial_condition(potential(x, variates) <= 1)
    y = [proximal_step(x + g / lam, f, 1 / lam)[0] for f, g in zip((one, two), variates, strict=True)]
    mean = (y[0] + y[1]) / 2
    problem.set_performance_metric(potential(mean, [lam * (mean - z) + g for z, g in zip(y, variates, strict=True)]))
    return problem.solve(verbose=0), 1 - 2 * np.sqrt(mu) / (np.sqrt(L) + mu / np.sqrt(L) + 2 * np.sqrt(mu))


def rows():
    """Rows of worst_cases.csv."""
    yield "fedsps", "Lemma 7", "a gradient, L = 1", *gradient()
    for s in (2, 4, 8):
        yield "fedawe", "Lemma 5", f"{s} local steps of 1/(4 s L), no noise", *local_steps(s)
    for R in (1, 4):
        yield (
            "fedred",
            "Corollary 21",
            f"{R} proximal round{'s' if R > 1 else ''}, one client, mu = 0",
            *proximal_rounds(R),
        )
    for mu in (0.1, 0.01):
        yield "fedred", "Corollary 32", f"factor of a round, two clients, mu / L = {mu}", *control_variates(mu)


def main():
    """Write the table."""
    with TABLE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows((*row[:3], f"{row[3]:.3g}", f"{row[4]:.3g}") for row in rows())


def read():
    """Return the rows of worst_cases.csv."""
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()
