"""Samples are not split."""

from dataclasses import dataclass

from fedatlas.federation.partitions.base import Split


@dataclass(frozen=True, kw_only=True)
class Shared(Split):
    """Every client draws from all samples (Yuan and Ma 2020, FedAc), so there may be any number of clients."""

    name = "shared"
    splits = False
