"""The canonical form of a specification describes the same runs, and does not depend on how a file spells them."""

from pathlib import Path

import pytest

from fedatlas.experiments import expansion, experiment_file
from fedatlas.experiments.cells import CellSpec
from fedatlas.experiments.dependencies import canonical
from fedatlas.experiments.runs import create, runs
from fedatlas.federation import problems

FOLDER = Path(__file__).parents[2] / "config/experiments"


def reordered(spec):
    """A specification with all keys in another order."""
    return {key: reordered(spec[key]) for key in reversed(spec)} if isinstance(spec, dict) else spec


@pytest.mark.parametrize("name", ["asynchrony", "compression", "fedred_nonconvex", "fedsps_exact"])
def test_the_canonical_form_describes_the_same_runs(name):
    cells = expansion.cells(experiment_file.load(FOLDER / f"{name}.yaml", "smoke"))
    for spec in (cell.spec for cell in cells):
        plain = canonical(spec)
        short = CellSpec.from_dict(plain)
        assert problems.parse(short.problem) == problems.parse(spec.problem)
        for one, other in zip(runs(short), runs(spec), strict=True):
            assert create(one) == create(other)
        assert canonical(short) == plain
        assert canonical(CellSpec.from_dict(reordered(spec.to_dict()))) == plain
