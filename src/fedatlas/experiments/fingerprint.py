"""Fingerprints of the code that a result depends on: what runs, not how it is written down.

A fingerprint hashes the syntax trees, without comments and docstrings, of some modules and of everything they import
inside the package. Editing an algorithm changes the fingerprint of its runs only; a comment changes none.
"""

import ast
import functools
import hashlib
import importlib.util
from pathlib import Path

PACKAGE = "fedatlas"
ROOT = Path(__file__).parents[1]
# Data reach a run through files, which are inputs of its rule, so adding a data set must not look like new code.
BOUNDARY = f"{PACKAGE}.data"
# Registries find modules by name; a new entry is no new code for what was there. Checks of options change no number.
REGISTRIES = {f"{PACKAGE}.algorithms", f"{PACKAGE}.problems.networks", f"{PACKAGE}.problems.options"}


def fingerprint(*modules, files=()):
    """Hash (16 hex digits) of the code of modules, given by full names, and of what they import in the package.

    files: paths of what else counts, byte by byte, such as templates.
    """
    digest = hashlib.sha256()
    for name in sorted(closure(*modules)):
        digest.update(f"{name}\n{normalised(_path(name))}\n".encode())
    for path in files:
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()[:16]


@functools.cache
def closure(*modules):
    """Names of modules and of all package modules that they import, directly or not."""
    seen, todo = set(), list(modules)
    while todo:
        name = todo.pop()
        if name not in seen:
            if _path(name) is None:
                raise ModuleNotFoundError(name)
            seen.add(name)
            todo.extend(n for n in _imports(name) if not n.startswith(BOUNDARY) and n not in REGISTRIES)
    return frozenset(seen)


def normalised(path):
    """Source of a file without comments, docstrings and layout."""
    return _normalised(path, path.stat().st_mtime_ns)


@functools.cache
def _normalised(path, _mtime):
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


@functools.cache
def _imports(name):
    path, found = _path(name), set()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(normalised(path))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = (
                importlib.util.resolve_name("." * node.level + (node.module or ""), package)
                if node.level
                else node.module
            )
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    return {name for name in found if name.startswith(f"{PACKAGE}.") and _path(name)}


@functools.cache
def _path(name):
    """File of a module of the package, or None. Found by name: asking Python's importer would run parent packages."""
    place = ROOT.joinpath(*name.split(".")[1:])
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)
