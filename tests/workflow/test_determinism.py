"""The whole tour gives the same bits, whatever the cores, the order of jobs, the threads and the blocks."""

import random
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.workflow.project import copied, same_runs

pytestmark = pytest.mark.slow


def test_the_tour_has_the_same_bits(tmp_path):
    project, other = (copied(tmp_path / name, complete=True) for name in ("one", "other"))
    with ThreadPoolExecutor() as pool:
        alone = pool.submit(project.snakemake, "--until", "train", "--cores", "1", timeout=1800)
        other.edit("src/fedatlas/federation/arrays.py", "BLOCK_BYTES = 1 << 22", "BLOCK_BYTES = 1 << 14")
        planned = other.snakemake("--until", "train", "--dry-run").stdout
        cells = sorted(set(re.findall(r"results/smoke/\S+/runs/\S+\.parquet", planned)))
        first = random.Random(0).sample(cells, len(cells) // 3)
        other.snakemake(*first, "--set-threads", "train=2", timeout=1800)
        other.snakemake("--until", "train", timeout=1800)
        alone.result()
    assert len(project.run_files()) > 20
    same_runs(project, other)
