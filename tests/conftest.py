"""Settings of all tests."""

import os
import sys

# Tests keep the bytecode of modules, whatever the environment says: without it each process of a test and each copy of
# the project would compile hundreds of modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Each worker of pytest has a processor to itself. Libraries that start a thread for every processor would wait for each
# other.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
