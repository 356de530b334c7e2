"""Cost models: the time of rounds on clients of given speed. A module here that defines a model is found by itself."""

from fedatlas.federation.costs.base import CostModel, Rates
from fedatlas.registry.kinds import Family

__all__ = ["COST_MODELS", "CostModel", "Rates"]

COST_MODELS: Family[CostModel] = Family("cost model", __name__, CostModel)
