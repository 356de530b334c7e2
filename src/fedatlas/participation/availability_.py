"""Clients that come and go: each is there with a probability of its own, which may change from round to round.

The dynamics are those of FedAWE (Xiang et al. 2024, Sections 4 and 7): p_i^t = p_i f(t), clipped to [0, 1]. Rounds in
which nobody is there are legal.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fedatlas.errors import UserError
from fedatlas.participation import traces_ as traces
from fedatlas.streams import stream

LABELS = "labels"


@dataclass(frozen=True)
class Participants:
    """Who takes part in the rounds of one run: functions of (seed, t), in whatever order they are asked.

    active(t): sorted ids of the clients of round t. probabilities(t): (clients,) chances of each to be there, or None
    where they are not known.
    """

    active: Callable
    probabilities: Callable


@dataclass(frozen=True, kw_only=True)
class Stationary:
    """f(t) = 1.

    p: one probability, one for each client, or ``labels``: p_i = <label shares of client i, u> with u drawn once from
    the seed, uniform on [0, 1] for the first half of the classes and on [0, 0.5] for the second.
    """

    p: float | list | str

    def factor(self, t):
        return 1.0

    def at(self, p, t):
        """p_i^t of base probabilities p (clients,)."""
        return np.clip(p * self.factor(t), 0, 1)

    def bind(self, problem, clients, seed):
        """Participants of a run. Raises UserError if p is ``labels`` and the problem has none."""
        p = base(self.p, problem, clients, seed)

        def active(t):
            return np.flatnonzero(stream(seed, "participation", t).random(clients) < self.at(p, t))

        return Participants(active, lambda t: self.at(p, t))

    def check(self, clients):
        if isinstance(self.p, str) and self.p == LABELS:
            return
        try:
            p = np.atleast_1d(np.asarray(self.p, float))
        except (TypeError, ValueError):
            p = np.empty(0)
        if p.shape not in ((1,), (clients,)) or not ((p > 0) & (p <= 1)).all():
            raise UserError(
                f"participation: p is {self.p}; give one probability in (0, 1], or one for each client, or {LABELS!r}"
            )

    def between(self, **options):
        """Raise UserError unless each option's value lies between 0 and 1."""
        for name, value in options.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
                raise UserError(f"participation: {name} is {value!r}; it must be a number between 0 and 1")

    def whole(self, **options):
        """Raise UserError unless each option's value is a number of rounds."""
        for name, value in options.items():
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise UserError(f"participation: {name} is {value!r}; it must be a whole number of rounds, at least 1")


@dataclass(frozen=True, kw_only=True)
class Sine(Stationary):
    """f(t) = gamma sin(2 pi t / period) + 1 - gamma; with one p for all, Section 4's Example 2."""

    gamma: float = 0.3
    period: int = 20

    def factor(self, t):
        return self.gamma * np.sin(2 * np.pi * t / self.period) + 1 - self.gamma

    def check(self, clients):
        super().check(clients)
        self.between(gamma=self.gamma)
        self.whole(period=self.period)


@dataclass(frozen=True, kw_only=True)
class InterleavedSine(Sine):
    """As sine, but a p_i^t below ``cutoff`` is 0: some clients vanish for a while, or for good."""

    cutoff: float = 0.1

    def at(self, p, t):
        chances = super().at(p, t)
        return np.where(chances < self.cutoff, 0.0, chances)

    def check(self, clients):
        super().check(clients)
        self.between(cutoff=self.cutoff)


@dataclass(frozen=True, kw_only=True)
class Staircase(Stationary):
    """f(t) alternates between 1 and ``low``, ``length`` rounds each."""

    low: float = 0.4
    length: int = 10

    def factor(self, t):
        return self.low if t // self.length % 2 else 1.0

    def check(self, clients):
        super().check(clients)
        self.between(low=self.low)
        self.whole(length=self.length)


@dataclass(frozen=True, kw_only=True)
class Markov(Stationary):
    """A two-state chain for each client, in its stationary state from the start: there with probability p_i.

    Each round a client stays as it is with probability ``persistence`` and is drawn anew, there with probability p_i,
    otherwise; so it comes with probability (1 - persistence) p_i and goes with (1 - persistence) (1 - p_i).
    """

    persistence: float = 0.9

    def bind(self, problem, clients, seed):
        p = base(self.p, problem, clients, seed)
        now = {"round": -1, "there": None}  # where the chain was asked last: going on from there costs one step

        def active(t):
            if t < now["round"]:
                now["round"] = -1
            while now["round"] < t:
                now["round"] += 1
                stays, fresh = stream(seed, "participation", now["round"]).random((2, clients))
                keep = (stays < self.persistence) & (now["round"] > 0)
                now["there"] = np.where(keep, now["there"], fresh < p)
            return np.flatnonzero(now["there"])

        return Participants(active, lambda t: self.at(p, t))

    def check(self, clients):
        super().check(clients)
        self.between(persistence=self.persistence)
        if self.persistence == 1:
            raise UserError("participation: persistence is 1, so nobody would ever come or go; it must be below 1")


@dataclass(frozen=True)
class Trace:
    """Who was there is read from a CSV file with columns round, client and available (0 or 1), numbered from 0.

    A client that a round does not name is not there; a run longer than the file starts it again. What the chances were
    is not known.
    """

    file: str

    def bind(self, problem, clients, seed):
        there = traces.read(self.file, clients)
        return Participants(lambda t: np.flatnonzero(there[t % len(there)]), lambda t: None)

    def check(self, clients):
        traces.read(self.file, clients)


def base(p, problem, clients, seed):
    """Base probabilities p_i (clients,) of a number, a list or ``labels``."""
    if not isinstance(p, str):
        return np.broadcast_to(np.asarray(p, float), (clients,))
    shares = problem.label_shares(clients)
    classes = shares.shape[1]
    u = stream(seed, "availability").random(classes)
    u[(classes + 1) // 2 :] /= 2
    return shares @ u


KINDS = {
    "bernoulli": Stationary,
    "stationary": Stationary,  # the name that it bears beside the other dynamics
    "sine": Sine,
    "staircase": Staircase,
    "interleaved-sine": InterleavedSine,
    "markov": Markov,
    "trace": Trace,
}
