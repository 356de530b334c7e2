"""What an algorithm of one's own depends on without the atlas's notice: an edit of it makes no result again."""

import ast
import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fedatlas.io.files import read_text
from fedatlas.registry import extensions
from fedatlas.testing.implementation import Implementation
from fedatlas.testing.outcomes import Failed, NotApplicable

READERS = {"open", "read_text", "read_bytes", "load", "loadtxt", "genfromtxt", "fromfile"}
READERS |= {f"read_{kind}" for kind in ("csv", "excel", "feather", "json", "parquet", "pickle")}
IMPORTERS = {"import_module", "__import__", "exec", "eval", "spec_from_file_location", "run_path", "run_module"}


def dependencies(implementation: Implementation) -> None:
    """An edit of anything that the algorithm depends on makes its results again: it imports modules by name, reads no
    environment, and declares the files that it reads."""
    module = implementation.cls.__module__
    if extensions.find_file(module) is None:
        raise NotApplicable("the algorithm lies neither in a study nor in an installed extension")
    if found := list(find_untracked(module)):
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise Failed(f"{found[0]}{more}")


def find_untracked(module: str) -> Iterator[str]:
    """Yield, in words, what a module and those that it imports in the study depend on and what no rerun notices.

    Args:
        module: Full name of the module.
    """
    todo, seen = [module], {module}
    while todo:
        name = todo.pop()
        path = extensions.find_file(name)
        assert path is not None  # only such modules are added
        tree = ast.parse(read_text(path))
        imported = dict(_aliases(tree))
        for node in ast.walk(tree):
            if sentence := _sentence(node, path, imported):
                yield f"{extensions.location(name)}, line {getattr(node, 'lineno', 1)}: {sentence}"
        for other in set(imported.values()):
            inner = [part for part in (other, other.rpartition(".")[0]) if part and extensions.find_file(part)]
            todo += [part for part in inner if part not in seen]
            seen |= set(inner)


def _aliases(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names that a source gives to modules, with the modules' full names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname or alias.name.partition(".")[0]), alias.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield (alias.asname or alias.name), f"{node.module}.{alias.name}"


def _sentence(node: ast.AST, path: Path, imported: dict[str, str]) -> str:
    """Return what a part of a source does that is not followed, and the remedy; empty if it is followed."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        names = [f"{prefix}{alias.name}" for alias in node.names]
        if getattr(node, "level", 0) == 0 and (unknown := [name for name in names if not _is_known(name)]):
            return (
                f"it imports {unknown[0]}, which lies neither in the study nor in an installed package: move it there"
            )
    if isinstance(node, (ast.Attribute, ast.Name)):
        first, *rest = ast.unparse(node).split(".")
        if ".".join([imported.get(first, first), *rest]) in ("os.environ", "os.getenv"):
            return "it reads the environment, of which no result knows: make the value an option"
    for owner, name in _changed_attributes(node):
        if isinstance(owner, ast.Name) and owner.id in imported:
            return f"it changes {owner.id}.{name} of another module, which changes others' results: do it in yours"
    if isinstance(node, ast.Call):
        return _call_sentence(node, path)
    return ""


def _changed_attributes(node: ast.AST) -> list[tuple[ast.AST, str]]:
    """Return the attributes that a part of a source changes, each with what it is an attribute of."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr" and len(node.args) == 3:
        return [(node.args[0], ast.unparse(node.args[1]).strip("'"))]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    return [(target.value, target.attr) for target in targets if isinstance(target, ast.Attribute)]


def _call_sentence(node: ast.Call, path: Path) -> str:
    name = ast.unparse(node.func).rpartition(".")[2]
    constant = bool(node.args) and isinstance(node.args[0], ast.Constant)
    if name in IMPORTERS and not (constant and name in ("import_module", "__import__")):
        return f"it runs {ast.unparse(node)}, whose code is not known: import the module by its name"
    if name in READERS and not _declares(path, ast.literal_eval(node.args[0]) if constant else None):
        return f"it reads a file by {ast.unparse(node):.60}: declare it in the class, as in reads = ('weights.json',)"
    return ""


def _declares(path: Path, file: Any) -> bool:
    """Return whether a class of a module declares a file that it reads, or any where its name is not in the source."""
    from fedatlas.experiments.fingerprint import declared_files

    declared = declared_files(ast.parse(read_text(path)))
    if isinstance(file, str) and Path(file).suffix:  # else it is a mode or an encoding
        return Path(file).name in [Path(name).name for name in declared]
    return bool(declared)


def _is_known(name: str) -> bool:
    """Return whether a module is Python's, the package's, the study's, or one of an installed package."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top == "fedatlas" or extensions.find_file(name) or extensions.find_file(top):
        return True
    return top in importlib.metadata.packages_distributions()
