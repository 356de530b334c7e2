"""From configuration to run specifications to results."""

import copy
from typing import Any

SIZES = ("smoke", "laptop", "paper")  # of an experiment, ascending
