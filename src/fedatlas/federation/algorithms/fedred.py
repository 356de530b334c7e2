"""FedRed (Jiang et al. 2024, arXiv:2404.08447): doubly regularised drift correction."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isclose
from typing import ClassVar, Literal

from numpy.random import Generator

from fedatlas.federation.algorithms import Algorithm, geometric_contraction
from fedatlas.federation.arrays import Array, State, zeros_like
from fedatlas.federation.channels import Note
from fedatlas.federation.engine.steps import Round, Steps
from fedatlas.registry.options import option


@dataclass(frozen=True, kw_only=True)
class FedRed(Algorithm):
    """FedRed (Jiang et al. 2024, Algorithm 2) is doubly regularised drift correction with exact subproblems.

        h_i = G_i(x) - mean_j G_j(x),   x the reference point
        y_i <- argmin_y f_i(y) - <h_i, y> + eta/2 |y - y_i|^2 + lam/2 |y - x|^2
        x   <- mean_i y_i, or one y_i at random     with probability p, one coin for all; then the h_i are renewed

    The h_i are control variate (4). A round consists of the iterations up to and with the next communication. Their
    number is geometric, so the setting's local steps have no effect. The y_i continue from where they are.

    ``average: weighted`` evaluates the average of Theorem 7. It averages the means over clients of all iterates
    k = 1, 2, ... with weights q^-k, q = 1 - mu/(2 eta + mu).

    Theory: eta >= lam >= delta_A, p = (lam + mu/2) / (eta + mu/2). The default lam = p eta is a rule of thumb.
    """

    name = "fedred"
    label = "FedRed"
    cite = "jiang2024"
    full_participation = True
    corrects_drift = True
    requires: ClassVar[tuple[str, ...]] = ("prox",)

    eta: float = option(doc="weight eta of eta/2 |y - y_i|^2, an inverse step size", above=0, advice="L_max")
    p: float = option(
        doc="probability p that an iteration communicates",
        low=1e-4,
        high=1,
        advice="max(0.0001,min(1,(delta_A+mu/2)/(eta+mu/2)))",
        search=(0.01, 1.0),
    )
    lam: float | None = option(None, doc="weight lambda of lam/2 |y - x|^2; by default p eta", low=0)
    averaging: Literal["mean", "random"] = option(
        "mean", doc="the next x: the mean of the clients' models, or one at random"
    )
    average: Literal["last", "weighted"] = option("last", doc="what is evaluated: x, or the average of the theorem")
    mu: float = option(0.0, doc="strong convexity mu of the clients, in the weights of the average", low=0)

    @property
    def weight(self) -> float:
        """lam, or its default p eta."""
        return self.p * self.eta if self.lam is None else self.lam

    @property
    def q(self) -> float:
        """The base q of the theorem's weights q^-k."""
        return 1 - self.mu / (2 * self.eta + self.mu)

    @property
    def theory(self) -> float:
        """The probability p of the theorem."""
        return (2 * self.weight + self.mu) / (2 * self.eta + self.mu)

    def init(self, x0: Array) -> tuple[State, State]:
        server, client = State(x=x0), State(y=x0, g=zeros_like(x0))
        if self.average == "weighted":
            return server.replace(a=x0), client.replace(a=zeros_like(x0), k=0)
        return server, client

    def length(self, K: int, rng: Generator) -> int:
        return int(rng.geometric(self.p))

    def before(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        G = steps.full(s.x)
        return State(g=G), State(g=G)

    def iterates(self, s: State, i: State, steps: Steps) -> Iterator[Array]:
        """Yield the clients' models (m, d) after each iteration of the round."""
        h, y, lam = i.g - s.g, i.y, self.weight
        for _ in range(len(steps)):
            y = steps.prox((self.eta * y + lam * s.x + h) / (self.eta + lam), self.eta + lam)
            yield y

    def client(self, s: State, i: State, steps: Steps) -> tuple[State, State]:
        for y in self.iterates(s, i, steps):
            i = i.replace(y=y)
            if self.average == "weighted":
                k = i.k + 1
                share = (1 - self.q) / (1 - self.q**k) if self.mu else 1 / k  # q^-k over the sum of weights up to k
                i = i.replace(k=k, a=i.a + share * (y - i.a))
        message = State(x=steps.pick(i.y) if self.averaging == "random" else i.y)
        return (message.replace(a=Note(i.a)) if self.average == "weighted" else message), i

    def server(self, s: State, mean: State, n: Round) -> State:
        return State(x=mean.x, a=mean.a) if self.average == "weighted" else State(x=mean.x)

    def output(self, s: State) -> Array:
        return s.a if self.average == "weighted" else s.x

    def rate(self, c: Mapping[str, float]) -> float | None:
        """Return E[q^N] = p q / (1 - (1 - p) q), where N is the number of iterations of a round.

        Within a round, X = |x - x*|^2 does not change. Y = mean_i |y_i - x*|^2 and Z = |mean_i y_i - x*|^2 satisfy

            Y_k + p Z_k <= (p - 1 + q) X + q Y_{k-1}

        (proofs of Theorems 7 and 9, before the expectation over the coin). The sum of these over k with weights
        p (1-p)^(k-1) bounds the expectation of (1 - q + p q) Y + p X after the round by E[q^N] times its value before.
        """
        if not self.eta >= self.weight >= c["delta_A"] or self.averaging != "mean":
            return None
        return self.geometric_rate(c)

    def geometric_rate(self, c: Mapping[str, float]) -> float | None:
        """Return E[q^N], or None unless mu and p are those of the theorem."""
        if self.mu != c["mu_min"] or not isclose(self.p, self.theory):
            return None
        return geometric_contraction(self.q, self.p)


@dataclass(frozen=True, kw_only=True)
class FedRedSGD(FedRed):
    """FedRed-SGD (Jiang et al. 2024, Algorithm 3) is FedRed with one stochastic gradient step in each iteration.

        y_i <- (eta y_i + lam x - (g(y_i) - h_i)) / (eta + lam)

    All else is as in ``fedred``, with q = 1 - mu/(2 eta - mu) (Theorem 9).
    Theory: eta > L, lam = delta_A, p = (lam + mu/2) / (eta - mu/2).
    If the objectives are not convex: one client's model at random, lam = delta_B, p = delta_B / L, and in K iterations
    eta = 3 L + sqrt(9 L^2 + L sigma^2 K / (f(x0) - f*)), which is 6 L without noise (Theorem 8).
    """

    name = "fedred-sgd"
    label = "FedRed-SGD"
    requires = ()

    @property
    def q(self) -> float:
        return 1 - self.mu / (2 * self.eta - self.mu)

    @property
    def theory(self) -> float:
        return (2 * self.weight + self.mu) / (2 * self.eta - self.mu)

    def gradients(self, steps: Steps) -> Iterable[Callable[[Array], Array]]:
        """Return the gradients of the iterations, each a function of y."""
        return steps

    def iterates(self, s: State, i: State, steps: Steps) -> Iterator[Array]:
        h, y, lam = i.g - s.g, i.y, self.weight
        for g in self.gradients(steps):
            y = (self.eta * y + lam * s.x - (g(y) - h)) / (self.eta + lam)
            yield y

    def rate(self, c: Mapping[str, float]) -> float | None:
        """Return FedRed's rate with the q of Theorem 9, where eta >= L_max >= delta_A + mu_min and lam >= delta_A."""
        smooth = self.eta >= c["L_max"] >= c["delta_A"] + c["mu_min"]
        if not smooth or self.weight < c["delta_A"] or self.averaging != "mean":
            return None
        return self.geometric_rate(c)


@dataclass(frozen=True, kw_only=True)
class FedRedGD(FedRedSGD):
    """FedRed-GD (Jiang et al. 2024, Algorithm 3) is FedRed with one full gradient step in each iteration.

        y_i <- (eta y_i + lam x - (G_i(y_i) - h_i)) / (eta + lam)

    All else is as in ``fedred-sgd``.
    """

    name = "fedred-gd"
    label = "FedRed-GD"

    def gradients(self, steps: Steps) -> Iterable[Callable[[Array], Array]]:
        return [steps.full] * len(steps)
