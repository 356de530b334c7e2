"""The functions of arrays that hooks compute with: ``from fedatlas.arrays import norm``."""

from fedatlas.federation.arrays import *  # noqa: F403
