"""Inequalities for vectors and functions that several papers number, each once."""

from statements.attack import Statement, equal
from statements.functions import dot, norm2

STATEMENTS = []


def statement(*places):
    """Return the decorator that makes a function the statement of places, each a paper and a number."""

    def declare(function):
        STATEMENTS.extend(Statement(*place, function) for place in places)
        return function

    return declare


@statement(("fedsps", "Lemma 9"), ("fedsps", "Lemma 13"), ("fedred", "Lemma 14"))
def variance(draw):
    """E|X - v|^2 = |E X - v|^2 + E|X - E X|^2, so a variance is at most a mean square."""
    n, d = draw.integer(1, 4), draw.integer(1, 3)
    p, x, v = draw.choice(0, 1) * draw.vector(n, 0.99) + 1, draw.vectors(n, d), draw.vector(d)
    p /= p.sum()
    spread = p @ norm2(x - p @ x)
    return [equal(p @ norm2(x - v), norm2(p @ x - v) + spread), (spread, p @ norm2(x))]


@statement(("fedsps", "Lemma 10"), ("fedawe", "(20)"))
def jensen(draw):
    """|sum x_i|^2 <= n sum |x_i|^2."""
    x = draw.vectors(draw.integer(1, 4), draw.integer(1, 3))
    return norm2(x.sum(0)), len(x) * norm2(x).sum()


@statement(("fedsps", "Lemma 11"), ("fedawe", "(21)"), ("fedred", "Lemma 10, (A.3)"), ("fedred", "Lemma 11"))
def young(draw):
    """-|x|^2 / (2 g) - g/2 |y|^2 <= <x, y> <= |x|^2 / (2 g) + g/2 |y|^2."""
    x, y = draw.vectors(2, draw.integer(1, 3))
    g = draw.log(0.01, 100)
    right = norm2(x) / (2 * g) + g / 2 * norm2(y)
    return [(-right, dot(x, y)), (dot(x, y), right)]


@statement(("fedac", "Lemma G.2"), ("fedsps", "Lemma 12"), ("fedawe", "(22)"), ("fedred", "Lemma 10, (A.4)"))
def square_of_a_sum(draw):
    """|x + y|^2 <= (1 + g) |x|^2 + (1 + 1 / g) |y|^2."""
    x, y = draw.vectors(2, draw.integer(1, 3))
    g = draw.log(0.01, 100)
    return norm2(x + y), (1 + g) * norm2(x) + (1 + 1 / g) * norm2(y)


@statement(("fedawe", "(23)"), ("fedred", "Lemma 15"))
def smoothness(draw):
    """f(y) <= f(x) + <grad f(x), y - x> + L/2 |y - x|^2."""
    d, L = draw.integer(1, 2), draw.log(0.1, 10)
    f, x, y = draw.smooth(d, draw.choice(-1, 0) * L, L), draw.vector(d, 3), draw.vector(d, 3)
    return f(y) - f(x) - dot(f.gradient(x), y - x), L / 2 * norm2(y - x)


PLANTED = [
    (variance, "+ spread)", "- spread)"),
    (jensen, "len(x) * norm2", "len(x) / 2 * norm2"),
    (young, "g / 2 * norm2(y)", "g / 4 * norm2(y)"),
    (square_of_a_sum, "norm2(x) + (1 + 1 / g)", "norm2(x) + (1 / g)"),
    (smoothness, "L / 2 * norm2", "L / 4 * norm2"),
]
