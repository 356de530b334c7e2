"""Fingerprints of the code that a result depends on: what runs, not how it is written down.

A fingerprint hashes the syntax trees, without comments and docstrings, of some modules and of everything they import
inside the package. Editing an algorithm changes the fingerprint of its runs only; a comment changes none.
"""

import ast
import contextlib
import functools
import hashlib
import importlib.util
import json
import sys
from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.experiments.result_files import atomic

PACKAGE = "fedatlas"
ROOT = Path(__file__).parents[1]
# Data reach a run through files, which are inputs of its rule, so adding a data set must not look like new code.
BOUNDARY = f"{PACKAGE}.data"
# Registries find modules by name; a new entry is no new code for what was there. Checks of options change no number.
REGISTRIES = {f"{PACKAGE}.algorithms", f"{PACKAGE}.problems.networks", f"{PACKAGE}.problems.options"}
# What is known of sources by their hash: to read that takes a fifth of the time that it takes to parse them.
CACHE = Path(__file__).with_name("__pycache__") / f"fingerprint.{sys.implementation.cache_tag}.json"
_new = set()  # names of modules parsed here, for other processes to know


def fingerprint(*modules, files=()):
    """Hash (16 hex digits) of the code of modules, given by full names, and of what they import in the package.

    files: paths of what else counts, byte by byte, such as templates.
    """
    digest = hashlib.sha256()
    for name in sorted(closure(*modules)):
        digest.update(f"{name}\n{_about(name)['code']}\n".encode())
    for path in files:
        digest.update(Path(path).read_bytes())
    _remember()
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
            imported = [n for n in _about(name)["imports"] if _path(n)]  # what is no module is a name in one
            todo.extend(n for n in imported if not n.startswith(BOUNDARY) and n not in REGISTRIES)
    return frozenset(seen)


def normalised(source):
    """A source without comments, docstrings and layout."""
    tree = ast.parse(source)
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


def _about(name):
    """``{"source", "code", "imports"}`` of a module: hashes as it is written and normalised, names that it imports."""
    path = _path(name)
    return _parsed(name, path, path.stat().st_mtime_ns)


@functools.cache
def _parsed(name, path, _mtime):
    content = path.read_bytes()
    source = hashlib.sha256(content).hexdigest()
    known = _cached().get(name)
    if not known or known["source"] != source:
        code = normalised(content)
        known = {"source": source, "code": hashlib.sha256(code.encode()).hexdigest(), "imports": _imports(name, code)}
        _cached()[name] = known
        _new.add(name)
    return known


@functools.cache
def _cached():
    with contextlib.suppress(OSError, ValueError):
        return json.loads(CACHE.read_text())
    return {}


def _remember():
    """Keep what was parsed, if the package's folder can be written to."""
    if _new:
        with contextlib.suppress(UserError), atomic(CACHE) as temporary:
            temporary.write_text(json.dumps(_cached()))
        _new.clear()


def _imports(name, code):
    found = set()
    package = name if _path(name).name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(code)):
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
    return sorted(name for name in found if name.startswith(f"{PACKAGE}."))


@functools.cache
def _path(name):
    """File of a module of the package, or None. Found by name: asking Python's importer would run parent packages."""
    place = ROOT.joinpath(*name.split(".")[1:])
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)
