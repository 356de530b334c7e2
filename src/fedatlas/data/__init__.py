"""Data sets: where they come from, how they are read, and how they are split over clients.

``prepare`` turns raw files (found in the data directory, a mirror or at their official address) into arrays on disk;
``load`` reads those. See `fedatlas.data.sources.Source` for what an entry of the catalogue says.
"""

from fedatlas.data import catalogue
from fedatlas.data.dataset import Dataset
from fedatlas.data.fetching import fetch
from fedatlas.data.partition import Partition, kinds, partition
from fedatlas.data.places import directory, mirrors
from fedatlas.data.sources import Source, info, names
from fedatlas.data.store import load, prepare, status, verify

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
