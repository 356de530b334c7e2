"""Imports point one way, and no two files bear one name that says nothing."""

import ast
import collections
from pathlib import Path

import pytest

import fedatlas

ROOT = Path(fedatlas.__file__).parent
# Rooms from the ground up; those of one line do not know each other.
ROOMS = [
    {"errors"},
    {"options", "files", "machine"},
    {"kinds", "arrays", "streams"},
    {"metrics", "schedules", "data"},
    {"labels", "citations", "participation", "partitions"},
    {"architectures", "compiled"},
    {"simulation"},
    {"algorithms", "torch"},
    {"problems"},
    {"experiments"},
    {"theory"},
    {"figures", "checks"},
    {"report"},
    {"tracking"},
    {"workflow"},
    {"overview", "estimator"},
    {"commands", "job_commands", "reference"},
    {"cli"},
]
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
PACKAGES = sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").exists())
# Names that several rooms may use: what a folder's base class is, and what it holds.
COMMON = {"__init__", "base"}


def imported(path):
    """Full names of what a file imports inside the package, wherever in the file it does; not for types alone."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("fedatlas"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fedatlas"):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(path):
    """The room of a file: its folder in the package, or itself."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@pytest.mark.parametrize("name", sorted(set(LEVEL)))
def test_a_room_imports_only_from_those_below(name):
    files = sorted((ROOT / name).rglob("*.py")) or [ROOT / f"{name}.py"]
    wrong = [
        f"{path.relative_to(ROOT)}: {one}"
        for path in files
        for one in imported(path)
        if (other := [*one.split("."), "errors"][1]) != name and LEVEL.get(other, -1) >= LEVEL[name]
    ]
    assert not wrong


def test_every_room_has_its_level():
    found = {room(path) for path in ROOT.rglob("*.py")} - {"__init__"}
    assert found == set(LEVEL)


def test_files_are_short():
    long = {
        str(path.relative_to(ROOT)): n for path in ROOT.rglob("*.py") if (n := len(path.read_text().splitlines())) > 300
    }
    assert not long


def test_kind_files_may_share_a_name_and_others_may_not():
    names = collections.Counter(path.stem for path in ROOT.rglob("*.py"))
    twice = {name for name, count in names.items() if count > 1} - COMMON
    folders = {name: sorted(path.parent.name for path in ROOT.rglob(f"{name}.py")) for name in twice}
    assert folders == EXPECTED_TWICE


EXPECTED_TWICE: dict[str, list[str]] = {}
