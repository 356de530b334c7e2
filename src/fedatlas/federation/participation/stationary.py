"""Availability with constant probabilities."""

from dataclasses import dataclass

from fedatlas.federation.participation.independent import IndependentParticipation


@dataclass(frozen=True, kw_only=True)
class Stationary(IndependentParticipation):
    """In each round, each client is available with probability p_i, independently of all others: f(t) = 1."""

    name = "stationary"
    aliases = ("bernoulli",)
