"""Local steps as linear recurrences, the form in which compiled kernels run them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Recurrence:
    """A local step that is linear in the vectors of its state, apart from one gradient.

    The state z = (z_1, ..., z_p) consists of p vectors (d,). A step is

        z_h <- sum_j A_hj z_j - b_h g(sum_j c_j z_j)        for h = 1, ..., p

    Attributes:
        fields: Names of the server's vectors from which z_1, ..., z_p start.
        A: p rows of p numbers.
        b: p numbers.
        c: p numbers.
        gain: The round ends with x <- x + gain (mean z - x) for each of the server's vectors x.
        resume: Function of the State of z_1, ..., z_p after rounds that returns the server's, by default the same.
    """

    fields: tuple[str, ...]
    A: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]
    gain: float = 1.0
    resume: Callable[[Any], Any] = lambda s: s

    def averaged(self) -> "Recurrence":
        """Return a round of one local step as a step of the server's vectors on the mean of the clients' gradients."""
        A = tuple(
            tuple(self.gain * a + (1 - self.gain) * (i == j) for j, a in enumerate(row)) for i, row in enumerate(self.A)
        )
        return Recurrence(self.fields, A, tuple(self.gain * b for b in self.b), self.c)


def descent(lr: float, gain: float = 1.0) -> Recurrence:
    """Return the step x <- x - lr g(x)."""
    return Recurrence(("x",), A=((1.0,),), b=(lr,), c=(1.0,), gain=gain)


def accelerated(alpha: float, beta: float, gamma: float, eta: float) -> Recurrence:
    """Return the step of generalised accelerated SGD in (w, ag) (Yuan & Ma 2020, Algorithm 1, lines 5 to 8)."""
    c = (1 / beta, 1 - 1 / beta)
    A = ((1 - 1 / alpha + c[0] / alpha, c[1] / alpha), c)
    return Recurrence(("w", "ag"), A, b=(gamma, eta), c=c)
