"""Cost models: the time of rounds on clients of given speed. A module here that defines a model is found by itself."""

from fedatlas.registry.kinds import Family
from fedatlas.results.costs.base import CostModel, Rates

__all__ = ["COST_MODELS", "CostModel", "Rates"]

COST_MODELS: Family[CostModel] = Family("cost model", __name__, CostModel)
