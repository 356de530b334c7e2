"""How clients draw minibatches. A module here that defines a `Sampler` with a name is found by itself."""

from fedatlas.federation.sampling.base import Sampler
from fedatlas.registry.kinds import Family

__all__ = ["SAMPLING", "Sampler"]

SAMPLING: Family[Sampler] = Family("sampling", __name__, Sampler)
