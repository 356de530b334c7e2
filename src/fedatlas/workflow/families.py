"""All families of kinds, by the names of their sections."""

from typing import Any

from fedatlas.data.readers import READERS
from fedatlas.experiments.tuning import TUNING_RULES
from fedatlas.federation.algorithms import ALGORITHMS
from fedatlas.federation.architectures import ARCHITECTURES
from fedatlas.federation.channels import CHANNELS
from fedatlas.federation.costs import COST_MODELS
from fedatlas.federation.engine.drivers import DRIVERS
from fedatlas.federation.metrics import METRICS
from fedatlas.federation.participation import PARTICIPATION
from fedatlas.federation.partitions import PARTITIONS
from fedatlas.federation.problems import PROBLEMS
from fedatlas.federation.sampling import SAMPLING
from fedatlas.federation.schedules import SCHEDULES
from fedatlas.federation.topologies import TOPOLOGIES
from fedatlas.registry.kinds import Family
from fedatlas.results.claims import CHECKS
from fedatlas.results.figures import FIGURES

FAMILIES: dict[str, Family[Any]] = {
    "algorithms": ALGORITHMS,
    "problems": PROBLEMS,
    "architectures": ARCHITECTURES,
    "partitions": PARTITIONS,
    "participation": PARTICIPATION,
    "schedules": SCHEDULES,
    "sampling": SAMPLING,
    "topologies": TOPOLOGIES,
    "channels": CHANNELS,
    "drivers": DRIVERS,
    "tuning rules": TUNING_RULES,
    "readers": READERS,
    "cost models": COST_MODELS,
    "figures": FIGURES,
    "checks": CHECKS,
    "metrics": METRICS,
}
