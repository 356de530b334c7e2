"""Imports point one way, and no two files bear one name that says nothing."""

import ast
import collections
import graphlib
import re
from pathlib import Path

import pytest

import fedatlas

ROOT = Path(fedatlas.__file__).parent
# Rooms from the ground up; those of one line do not know each other.
ROOMS = [
    {"errors"},
    {"files", "npz", "machine", "arguments", "markdown", "axis_values", "yaml_files", "bibtex"},
    {"csv_files", "extensions"},
    {"options", "bibliography"},
    {"kinds", "arrays", "streams"},
    {"metrics", "schedules", "data"},
    {"labels", "participation", "partitions"},
    {"architectures", "compiled"},
    {"simulation"},
    {"algorithms"},
    {"problems"},
    {"torch"},
    {"experiments"},
    {"citations", "comparing", "costs", "theory"},
    {"figures", "checks"},
    {"report"},
    {"tracking"},
    {"workflow"},
    {"overview", "estimator", "frames", "paper", "plotting", "conformance"},
    {"commands", "study_commands", "job_commands", "reference"},
    {"cli"},
]
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
PACKAGES = sorted(path.name for path in ROOT.iterdir() if (path / "__init__.py").exists())
# Files that share a name share a subject, which each room sees in its way.
SHARED = {
    "bound": ["figures", "theory"],
    "cifar": ["catalogue", "readers"],
    "dane": ["algorithms", "theory"],
    "embedded": ["catalogue", "readers"],
    "fedac": ["algorithms", "theory"],
    "fedawe": ["algorithms", "theory"],
    "fedred": ["algorithms", "theory"],
    "instability": ["figures", "theory"],
    "libsvm": ["catalogue", "readers"],
    "network": ["problems", "torch"],
    "of_arrays": ["problems", "torch"],
    "partition": ["data", "figures"],
    "profiles": ["comparing", "figures"],
    "validation": ["problems", "workflow"],
}


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


def loaded_by_name(path):
    """Full names of the modules of the package that a file loads by their names."""
    return re.findall(r'import_module\("(fedatlas[\w.]*)"\)', path.read_text())


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


def test_no_modules_import_each_other_in_a_circle():
    files = {".".join(("fedatlas", *path.relative_to(ROOT).with_suffix("").parts)): path for path in ROOT.rglob("*.py")}
    files = {name.removesuffix(".__init__"): path for name, path in files.items()}
    graph = {
        name: {one if one in files else one.rpartition(".")[0] for one in (*imported(path), *loaded_by_name(path))}
        for name, path in files.items()
    }
    assert sum(map(len, graph.values())) > 500 and all(found <= set(files) for found in graph.values())
    list(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError, which shows the circle


def test_every_room_has_its_level():
    found = {room(path) for path in ROOT.rglob("*.py")} - {"__init__"}
    assert found == set(LEVEL)


def test_files_are_short():
    long = {
        str(path.relative_to(ROOT)): n for path in ROOT.rglob("*.py") if (n := len(path.read_text().splitlines())) > 300
    }
    assert not long


def test_no_two_files_bear_one_name_without_a_reason():
    names = collections.defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        if path.parent.name not in ("inputs", "jobs"):  # which are named after rules and inputs of figures
            names[path.stem].append(path.parent.name)
    assert {name: folders for name, folders in names.items() if len(folders) > 1} == SHARED | {
        name: names[name]
        for name in ("__init__", "base")  # a package, and the base class of a family
    }
