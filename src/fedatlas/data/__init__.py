"""Data sets: where they come from, how they are read, and how they are split over clients.

``prepare`` turns raw files (found in the data directory, a mirror or at their official address) into arrays on disk;
``load`` reads those. See `fedatlas.data.sources.Source` for what an entry of the catalogue says.
"""

from . import catalogue
from .dataset import Dataset
from .fetching import fetch
from .partitions import Partition, kinds, partition
from .places import directory, mirrors
from .sources import Source, info, names
from .store import load, prepare, status, verify

__all__ = [
    "Dataset",
    "Partition",
    "Source",
    "catalogue",
    "directory",
    "fetch",
    "info",
    "kinds",
    "load",
    "mirrors",
    "names",
    "partition",
    "prepare",
    "status",
    "verify",
]
