"""Imports point one way."""

import ast
from pathlib import Path

import pytest

import fedatlas

ROOT = Path(fedatlas.__file__).parent
BASE = {"errors", "registry"}
LOWER = {
    "data": set(),
    "simulation": set(),
    "algorithms": {"simulation.arrays", "simulation.mixing"},
    "problems": {"simulation", "data"},
    "experiments": {"algorithms", "problems", "simulation", "data"},
    "analysis": {"experiments", "algorithms", "problems", "simulation", "data"},
    "tracking": {"experiments", "analysis", "algorithms", "problems", "data"},
    "workflow": {"tracking", "analysis", "experiments", "algorithms", "problems", "simulation", "data"},
}


def imported(path):
    """Full names of what a file imports inside the package, wherever in the file it does."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("fedatlas"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fedatlas"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("layer", LOWER)
def test_a_layer_imports_only_from_those_below(layer):
    allowed = [f"fedatlas.{name}" for name in {layer} | BASE | LOWER[layer]]
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in (ROOT / layer).rglob("*.py")
        for name in imported(path)
        if not any(f"{name}.".startswith(f"{start}.") for start in allowed)
    ]
    assert not wrong
    assert any(True for path in (ROOT / layer).rglob("*.py") for _ in imported(path))
