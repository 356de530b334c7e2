"""Synchronous rounds."""

from dataclasses import dataclass

from fedatlas.federation.engine.drivers import Driver


@dataclass(frozen=True, kw_only=True)
class Synchronous(Driver):
    """In each round the server waits for all active clients.

    No number of a run depends on the model. It is that of figures and checks with ``model: driver``.
    """

    name = "synchronous"
