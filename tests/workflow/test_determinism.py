"""The whole tour gives the same bits, whatever the cores, the order of jobs, the threads and the blocks."""

import random

import pytest

from tests.workflow.conftest import copied, same_runs

pytestmark = pytest.mark.slow


def test_the_tour_has_the_same_bits(tmp_path):
    one, other = (copied(tmp_path / name, whole=True) for name in ("one", "other"))
    one.snakemake("--until", "train", "--cores", "1", timeout=1800)
    assert len(one.run_files()) > 20

    other.edit("src/fedatlas/simulation/arrays.py", "BLOCK_BYTES = 1 << 22", "BLOCK_BYTES = 1 << 14")
    cells = sorted(one.run_files())
    first = random.Random(0).sample(cells, len(cells) // 3)
    other.snakemake(*(f"results/smoke/{name}" for name in first), "--set-threads", "train=2", timeout=1800)
    other.snakemake("--until", "train", timeout=1800)
    same_runs(one, other)
