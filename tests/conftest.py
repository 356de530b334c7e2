"""Settings of all tests."""

import gc
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

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

# A test draws the same inputs on every machine, so that its failure says something about the code; `make fuzz` draws
# more, and new ones. A busy machine fails no test: speed is measured in benchmarks.
untimed = settings(settings.get_profile("default"), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", untimed, derandomize=True, database=None, max_examples=50)
settings.register_profile("new", untimed)
settings.load_profile("same")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect the tests with the garbage collector off, whose passes over them would take a third of the time.

    Later passes leave out what was imported and collected.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
