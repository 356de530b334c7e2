"""The catalogue of data sets. A module here that defines a `Source` is found by itself."""

from fedatlas.data.catalogue.base import Source
from fedatlas.registry.kinds import Family

SOURCES: Family[Source] = Family("data set", __name__, Source, records=True)
