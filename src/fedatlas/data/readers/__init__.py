"""Readers of file formats. A module that defines a `Reader` is found by itself: adding one is adding a file.

Readers of published files trust their checksums, which are verified first; readers of custom files check everything.
"""

from fedatlas.data.readers.base import Reader
from fedatlas.registry.kinds import Family

READERS: Family[Reader] = Family("reader", __name__, Reader)
