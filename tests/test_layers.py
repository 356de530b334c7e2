"""Imports point one way, and names of files say something."""

import ast
import functools
import graphlib
import re
from pathlib import Path

import pytest

import fedatlas

ROOT = Path(fedatlas.__file__).parent
PATHS = sorted(ROOT.rglob("*.py"))
# Rooms from the ground up, by path in the package; those of one line do not know each other.
ROOMS = [
    {"errors"},
    {"io"},
    {"registry"},
    {"data", "federation.arrays", "federation.streams"},
    {
        "arrays",
        "federation.metrics",
        "federation.schedules",
        "federation.participation",
        "federation.partitions",
        "federation.costs",
    },
    {
        "federation.architectures",
        "federation.channels",
        "federation.compiled",
        "federation.sampling",
        "federation.topologies",
    },
    {"federation.engine"},
    {"federation.algorithms"},
    {"federation.problems"},
    {"federation.networks"},
    {"theory"},
    {"experiments"},
    {"records"},
    {"results.comparing", "results.costs"},
    {"results.figures", "results.claims"},
    {"publish.report"},
    {"publish.tracking"},
    {"workflow"},
    {"api", "testing"},
    {"publish.comparison", "publish.guide"},
    {"cli"},
    {"__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}


@functools.cache
def imported(path):
    """Full names of what a file imports inside the package, wherever in the file it does, but for types alone."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = [ast.Pass()]
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.startswith("fedatlas")]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fedatlas"):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def loaded_by_name(path):
    """Full names of the modules of the package that a file loads by their names."""
    return re.findall(r'import_module\("(fedatlas[\w.]*)"\)', path.read_text())


def room(name):
    """The room of a module, by its full name without the package's: the longest of ROOMS that holds it."""
    parts = name.split(".")
    return next((room for n in (2, 1) if (room := ".".join(parts[:n])) in LEVEL), None)


def module(path):
    """Full name of a module without the package's."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("name", sorted(LEVEL))
def test_a_room_imports_only_from_those_below(name):
    files = [path for path in PATHS if room(module(path)) == name]
    wrong = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in files
        for target in imported(path)
        if (other := room(target.removeprefix("fedatlas."))) not in (name, None) and LEVEL[other] >= LEVEL[name]
    ]
    assert files and not wrong


def test_no_modules_import_each_other_in_a_circle():
    files = {".".join(("fedatlas", *path.relative_to(ROOT).with_suffix("").parts)): path for path in PATHS}
    files = {name.removesuffix(".__init__"): path for name, path in files.items()}
    graph = {
        name: {item if item in files else item.rpartition(".")[0] for item in (*imported(path), *loaded_by_name(path))}
        for name, path in files.items()
    }
    assert sum(map(len, graph.values())) > 60 and all(result <= set(files) for result in graph.values())
    list(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError, which shows the circle


def test_every_module_has_its_room():
    packages = {"__init__", "federation", "publish", "results"}  # which hold rooms
    assert {module(path) for path in PATHS if room(module(path)) is None} == packages
