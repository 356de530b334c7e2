"""Local steps as linear recurrences, the form in which compiled kernels run them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Recurrence:
    """Local steps that are linear in the state but for one gradient.

    With z = (z_1, .., z_p) of (d,) vectors a step is ``z <- A z - b (x) g(<c, z>)``. fields: the server vectors that z
    starts from; the round ends in ``x + gain (mean z - x)`` for each of them. A: p rows; b, c: p numbers, as tuples.
    """

    fields: tuple
    A: tuple
    b: tuple
    c: tuple
    gain: float = 1.0

    def averaged(self):
        """The round of one step as a recurrence of the server's vectors; its gradient is the mean of the workers'."""
        A = tuple(
            tuple(self.gain * a + (1 - self.gain) * (i == j) for j, a in enumerate(row)) for i, row in enumerate(self.A)
        )
        return Recurrence(self.fields, A, tuple(self.gain * b for b in self.b), self.c)


def descent(lr, gain=1.0):
    """x <- x - lr g(x)."""
    return Recurrence(("x",), A=((1.0,),), b=(lr,), c=(1.0,), gain=gain)


def accelerated(alpha, beta, gamma, eta):
    """Generalised accelerated SGD in (w, ag) (Yuan & Ma 2020, Algorithm 1, lines 5 to 8)."""
    c = (1 / beta, 1 - 1 / beta)
    A = ((1 - 1 / alpha + c[0] / alpha, c[1] / alpha), c)
    return Recurrence(("w", "ag"), A, b=(gamma, eta), c=c)
