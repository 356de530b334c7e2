"""What statements are about, drawn from a point of the unit cube, so that one point serves dice and optimisers."""

import itertools

import numpy as np

from statements.functions import Client, Clients, Curve, Function, quadratic

EDGE = 0.06  # of the unit interval, at each end: there a range gives its end itself


class Outside(Exception):
    """A statement says nothing of what was drawn."""


class Draw:
    """Numbers, vectors and functions from the coordinates of a point; coordinates past the last are 1/2."""

    def __init__(self, point):
        self.point, self.used = point, 0

    def unit(self):
        """The next coordinate, in [0, 1]; an interval at each end of the cube counts as the end."""
        u = self.point[self.used] if self.used < len(self.point) else 0.5
        self.used += 1
        return min(max((u - EDGE) / (1 - 2 * EDGE), 0.0), 1.0)

    def real(self, low, high):
        """A number in [low, high], both ends among them."""
        return low + (high - low) * self.unit()

    def log(self, low, high):
        """A positive number in [low, high], even in its logarithm, both ends among them."""
        return float(low * (high / low) ** self.unit())

    def integer(self, low, high):
        """An integer in [low, high]."""
        return low + min(int(self.unit() * (high - low + 1)), high - low)

    def choice(self, *values):
        """One of some values."""
        return values[self.integer(0, len(values) - 1)]

    def vector(self, d, scale=1.0):
        """A vector in [-scale, scale]^d."""
        return scale * np.array([self.real(-1, 1) for _ in range(d)])

    def vectors(self, n, d, scale=1.0):
        """n vectors, (n, d)."""
        return np.array([self.vector(d, scale) for _ in range(n)])

    def rotation(self, d):
        """A rotation of d dimensions, a product of rotations of all pairs of axes."""
        matrix = np.eye(d)
        for i, j in itertools.combinations(range(d), 2):
            angle = self.real(0, np.pi)
            turn = np.eye(d)
            turn[[i, j], [i, j]], turn[i, j], turn[j, i] = np.cos(angle), -np.sin(angle), np.sin(angle)
            matrix = matrix @ turn
        return matrix

    def symmetric(self, d, low, high):
        """A symmetric matrix with eigenvalues in [low, high]."""
        rotation = self.rotation(d)
        return (rotation * [self.real(low, high) for _ in range(d)]) @ rotation.T

    def curve(self, mu, L, Q=None, spread=1.0):
        """A curve with curvature in [mu, L], positive at both ends where mu < 0; that of its curvature in [-Q, Q]."""
        outer = mu if mu >= 0 else 0.02 * L
        root, first, second = self.real(-spread, spread), self.real(outer, L), self.real(mu, L)
        place, width = self.real(-2, 2), self.log(0.05, 2)
        if Q is None:
            return Curve(root, first, (second - first, self.real(outer, L) - second), (place, place + width))
        if Q == 0 or first == second:
            return Curve(root, first)
        steep = Q * np.sign(second - first)
        return Curve(root, first, (steep, -steep), (place, place + (second - first) / steep), 1)

    def function(self, d, mu, L, Q=None, spread=1.0, offset=0.0, rotation=None):
        """A function of d coordinates with these constants; not convex where mu < 0."""
        rotation = self.rotation(d) if rotation is None else rotation
        curves = tuple(self.curve(mu, L, Q, spread) for _ in range(d))
        return Function(curves, rotation, mu, L, np.inf if Q is None else Q, offset)

    def quadratic(self, d, mu, L, spread=1.0, offset=0.0):
        """A quadratic of d coordinates with eigenvalues in [mu, L]."""
        return quadratic(self.symmetric(d, mu, L), self.vector(d, spread), mu, L, offset)

    def smooth(self, d, mu, L, spread=1.0, offset=0.0):
        """A quadratic or a function that is not one."""
        if self.choice(False, True):
            return self.function(d, mu, L, spread=spread, offset=offset)
        return self.quadratic(d, mu, L, spread, offset)

    def clients(self, mu, L, n=None, d=None, share=None):
        """Clients that are mu-convex and L-smooth; not convex where mu < 0. share: of how far apart they can be."""
        n = self.integer(1, 3) if n is None else n
        d = self.integer(1, 2) if d is None else d
        raw = np.array([self.symmetric(d, -1, 1) for _ in range(n)])
        raw = raw - raw.mean(0)
        values = np.linalg.eigvalsh(raw)
        reach = max(values.max() - values.min(), 1e-9)
        far = (self.real(0, 1) if share is None else share) * (L - mu)
        matrices = raw * (far / reach)
        low, high = mu - min(values.min(), 0) * far / reach, L - max(values.max(), 0) * far / reach
        self.require(high > 0)  # else the mean has no least value
        common = self.function(d, low, max(high, low))
        tilts = self.vectors(n, d, L)
        functions = zip(matrices, tilts - tilts.mean(0), strict=True)
        return Clients(tuple(Client(common, matrix, tilt) for matrix, tilt in functions), common, mu, L)

    def require(self, condition):
        """Leave a statement that says nothing of this draw."""
        if not condition:
            raise Outside


def signs(count):
    """All vectors of `count` signs, (2^count, count)."""
    return np.array(list(itertools.product((-1.0, 1.0), repeat=count))).reshape(2**count, count)


def patterns(p):
    """All outcomes of independent events with probabilities p (any shape): outcomes (2^k, *p.shape), probabilities."""
    flat = np.ravel(p)
    outcomes = signs(flat.size) > 0
    chances = np.where(outcomes, flat, 1 - flat).prod(-1)
    return outcomes.reshape(-1, *np.shape(p)), chances
