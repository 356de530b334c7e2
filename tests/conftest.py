"""Settings of all tests."""

import os
import sys

# Tests keep the bytecode of modules, whatever the environment says: without it each process of a test and each copy of
# the project would compile hundreds of modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
