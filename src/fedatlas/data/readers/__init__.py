"""How files become arrays. A module here that defines a `Reader` is found by itself: adding one is adding a file.

The modules `archives`, `compression` and `images` help readers and define none.
"""

from fedatlas.data.readers.base import Reader
from fedatlas.registry.kinds import Family

READERS: Family[Reader] = Family("reader", __name__, Reader)
