"""A cost model whose rates the specification gives."""

from dataclasses import dataclass

from fedatlas.federation.costs import CostModel


@dataclass(frozen=True, kw_only=True)
class FixedRates(CostModel):
    """Clients with the rates of the specification: ``{kind: rates, compute: 1e9, down: 1e8, up: 1e7}``."""

    name = "rates"
