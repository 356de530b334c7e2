"""How clients draw minibatches. A module here that defines a `Sampler` with a name is found by itself."""

from fedatlas.kinds import Family
from fedatlas.simulation.sampling.base import Sampler

__all__ = ["SAMPLING", "Sampler"]

SAMPLING: Family[Sampler] = Family("sampling", __name__, Sampler)
