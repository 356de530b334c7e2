"""Fingerprints of code: hashes of what runs. Layout and words do not count.

The fingerprint of a module hashes the syntax trees of the module and of everything that it imports inside the package,
the study or an extension's package, directly or not, inside functions too. What changes no number is left out:
comments, docstrings, types of arguments, labels, citations, meaning and advice of options, the words of errors. Modules
in SILENT are left out whole, with what they import, and imports in DETACHED are not followed: both have their reasons.

Kinds are found in their folders and not imported by name, so a module that builds kinds does not depend on all of them.
Which kinds a result uses follows from its specification; see `fedatlas.experiments.dependencies`.
"""

import ast
import contextlib
import functools
import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import fedatlas
from fedatlas.errors import UserError
from fedatlas.io.files import atomic, require_file
from fedatlas.registry import extensions

PACKAGE = "fedatlas"
ROOT = Path(__file__).parents[1]

# Files that belong to a module as its code does.
RESOURCES = {"fedatlas.publish.report.page": ("*.html", "*.css", "*.js", "chartjs/*")}
# Class attributes and arguments of ``option`` that are words for people.
WORDS = {"label", "cite"}
WORDS_OF_OPTIONS = {"advice", "doc", "search", "unit"}

# Modules that can change no number of a result, and why. Nothing is followed through them.
SILENT = {
    "fedatlas.errors": "words for people",
    "fedatlas.registry": "finds kinds, checks the values of their options and describes them",
    "fedatlas.io.files": "writes files whole; what files of text say reaches results through parameters",
    "fedatlas.io.machine": "asks what the machine has free, and how it keeps freed memory",
    "fedatlas.experiments.fingerprint": "says what results depend on",
    "fedatlas.experiments.dependencies": "says what results depend on, and compares specifications",
    "fedatlas.federation.compiled.compilation": "lets one process at a time compile",
    "fedatlas.experiments.result_files": "keeps rows and metadata in Parquet files",
    "fedatlas.federation.engine.resources": "limits memory and chooses threads; results keep their order",
    "fedatlas.federation.engine.checkpoint": "keeps a run that is cut off; it goes on to the same bits",
    "fedatlas.federation.engine.inspection": "refuses what hooks must not return",
    "fedatlas.federation.algorithms.declaration": "refuses what classes must not declare",
    "fedatlas.data.paths": "says where files lie",
    "fedatlas.data.catalogue": "entries reach results through prepared data, whose rule has the entry as a parameter",
    "fedatlas.data.sources": "entries reach results through prepared data, whose rule has the entry as a parameter",
}
# Imports that are not followed: (importer, imported module), and why. The importer's results depend on the imported
# module only where something else says so, mostly `fedatlas.experiments.dependencies`, which reads it from the
# specification. The style of an import never matters: one inside a function is followed like any other.
_OF_CHOICE = (
    "changes no number of a run, but says what is run and kept; dependencies adds it to run files with a choice"
)
_OF_CHECK = "dependencies adds it to checks that need it"
_COMPILED = "dependencies adds the compiled parts that a specification may run"
DETACHED = {
    (f"{PACKAGE}.{importer}", f"{PACKAGE}.{module}"): reason
    for importer, modules, reason in (
        ("experiments.run", "experiments.tuning", _OF_CHOICE),
        ("experiments.run", "experiments.scores", _OF_CHOICE),
        ("experiments.labels", "federation.engine.history", "the name of a column"),
        ("experiments.scores", "federation.engine.history", "the name of a column"),
        ("federation.engine.drivers", "federation.costs", "dependencies adds the cost model of runs with a clock"),
        ("federation.problems", "federation.partitions", "jobs read the partition from a file, an input of their rule"),
        (
            "federation.problems.network",
            "federation.networks.device",
            "a name in metadata; the oracle imports the rest",
        ),
        ("federation.compiled", "federation.compiled.lockstep federation.compiled.dense_rows", _COMPILED),
        ("federation.compiled", "federation.compiled.scoring federation.compiled.sparse_gradients", _COMPILED),
        ("federation.compiled", "federation.compiled.sequential", _COMPILED),
        ("federation.compiled.sequential", "federation.compiled.passes federation.compiled.plans", _COMPILED),
        (
            "publish.report.facts",
            "federation.algorithms",
            "the plan takes citations from it; jobs read them from a file",
        ),
        ("results.claims.below", "theory.fedawe theory.fedawe.trajectories", _OF_CHECK),
        ("results.claims.exponent", "results.comparing.theorems theory.fedac", _OF_CHECK),
        ("results.claims.reaches", "results.comparing.theorems theory.closed_forms", _OF_CHECK),
        ("results.claims.reaches", "theory.fedac.instability", _OF_CHECK),
    )
    for module in modules.split()
}

RULES = Path(__file__).read_bytes()  # what an older version of this file has parsed is not used
# What is known of sources by their hash: to read that takes a fifth of the time that it takes to parse them.
CACHE = Path(__file__).with_name("__pycache__") / f"fingerprint.{sys.implementation.cache_tag}.json"
_new: set[str] = set()  # names of modules parsed here, for other processes to know


def fingerprint(modules: Iterable[str]) -> str:
    """Return the hash (16 hex digits) of the code of modules, by full names, and of all that they import."""
    text = "".join(f"{name}\n{code}\n" for name, code in _codes(extensions.study(), frozenset(modules)).items())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def module_hashes(modules: Iterable[str]) -> dict[str, str]:
    """Return the hash (12 hex digits) of the code of each of some modules and of what they import, by sorted name."""
    return {name: code[:12] for name, code in _codes(extensions.study(), frozenset(modules)).items()}


# The study is a part of the keys of caches, because names of its modules are relative to its folder.
@functools.lru_cache(10_000)
def _codes(study: Path | None, modules: frozenset[str]) -> dict[str, str]:
    """Return the hash of the code of modules and of all that they import, by name, sorted."""
    codes = {name: _parse(study, name)["code"] for name in sorted(_closure(study, modules))}
    if _new:
        with contextlib.suppress(UserError), atomic(CACHE) as temporary:  # where the package's folder can be written to
            temporary.write_text(json.dumps(_cached()))
        _new.clear()
    return codes


def closure(*modules: str) -> frozenset[str]:
    """Return the names of modules and of all that they import of the package and of extensions, except silent ones."""
    return _closure(extensions.study(), frozenset(modules))


@functools.cache
def _closure(study: Path | None, modules: frozenset[str]) -> frozenset[str]:
    names: set[str] = set()
    todo = list(modules)
    while todo:
        name = todo.pop()
        if name not in names:
            names.add(name)
            todo.extend(_followed(study, name))
    return frozenset(names)


@functools.cache
def _followed(study: Path | None, name: str) -> tuple[str, ...]:
    """Return the modules that a module imports and that count as parts of it."""
    imported = _imported(_parse(study, name)["imports"])
    return tuple(
        module for module in imported if _path(module) and not silent(module) and (name, module) not in DETACHED
    )


def silent(name: str) -> bool:
    """Return whether a module is declared to change no number, by itself or by its package."""
    return any(name == root or name.startswith(f"{root}.") for root in SILENT)


def normalised(source: str) -> str:
    """Return a source without comments, layout and words, as text that is the same in all versions of Python."""
    return _written(_Plain().visit(ast.parse(source)))


def _written(part: Any) -> str:
    """Return a part of a syntax tree as text, without empty fields, of which versions of Python have more or fewer."""
    if isinstance(part, list):
        return f"[{','.join(map(_written, part))}]"
    if not isinstance(part, ast.AST):
        return ascii(part)
    fields = (f"{name}={_written(value)}" for name, value in ast.iter_fields(part) if value is not None and value != [])
    return f"{type(part).__name__}({','.join(fields)})"


class _Plain(ast.NodeTransformer):
    """Transformer that removes docstrings, types of arguments, words of attributes and options, and those of errors."""

    def visit(self, node: ast.AST) -> Any:
        node = self.generic_visit(node)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            body = [item for item in node.body if not _is_word(item, isinstance(node, ast.ClassDef))]
            node.body = body or ([] if isinstance(node, ast.Module) else [ast.Pass()])
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None  # types of results and arguments change no number
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.JoinedStr):  # Python 3.12 has empty texts where other versions have none
            node.values = [item for item in node.values if not (isinstance(item, ast.Constant) and item.value == "")]
        elif isinstance(node, ast.If) and ast.unparse(node.test).rpartition(".")[2] == "TYPE_CHECKING":
            return node.orelse or None  # never runs
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc = node.exc.func
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "option":
            node.keywords = [item for item in node.keywords if item.arg not in WORDS_OF_OPTIONS]
        return node


def _is_word(node: ast.stmt, in_class: bool) -> bool:
    """Return whether a statement is a docstring, or sets attributes of a class that are words for people."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return in_class and targets != [] and all(isinstance(target, ast.Name) and target.id in WORDS for target in targets)


@functools.cache
def _parse(_study: Path | None, name: str) -> dict[str, Any]:
    """Return ``{"code", "imports"}`` of a module: hash of its code and of files that it reads, and imported names."""
    if (path := _path(name)) is None:
        raise ModuleNotFoundError(name)
    files = [file for pattern in RESOURCES.get(name, ()) for file in sorted(path.parent.glob(pattern))]
    source = hashlib.sha256(RULES + (content := path.read_bytes())).hexdigest()
    parsed: dict[str, Any] = _cached().get(name, {}) if _of_package(name) else {}
    if parsed.get("source") != source:
        try:
            tree = _Plain().visit(ast.parse(content, path))
        except SyntaxError as error:
            raise UserError(f"{extensions.location(name)}: {error}") from None
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        code = hashlib.sha256(_written(tree).encode()).hexdigest()
        parsed = {"source": source, "code": code, "imports": _imports(tree, package)}
        if _of_package(name):
            _cached()[name] = parsed
            _new.add(name)
        else:
            files = [path.parent / file for file in declared_files(tree)]
    for file in files:
        require_file(file)
        code = hashlib.sha256(parsed["code"].encode() + file.read_bytes()).hexdigest()
        parsed = parsed | {"code": code}
    return parsed


def declared_files(tree: ast.Module) -> list[str]:
    """Return the files that the classes of a source declare by ``reads = ("weights.json",)``, from its folder."""
    files = []
    for node in ast.walk(tree):
        for item in node.body if isinstance(node, ast.ClassDef) else ():
            targets = item.targets if isinstance(item, ast.Assign) else []
            if any(isinstance(target, ast.Name) and target.id == "reads" for target in targets):
                files += [part.value for part in ast.walk(item) if isinstance(part, ast.Constant)]
    return [file for file in files if isinstance(file, str)]


@functools.cache
def _cached() -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError, TypeError):
        return dict(json.loads(CACHE.read_text()))
    return {}


def _imports(tree: ast.Module, package: str) -> list[list[str]]:
    """Return the imported modules, each with the names from it; in the package of fedatlas only its own modules."""
    imports = []
    for node in ast.walk(tree):
        match node:
            case ast.Import(names):
                imports += [[alias.name, *_attributes(tree, alias)] for alias in names]
            case ast.ImportFrom(module, names, level):
                start = ".".join(package.split(".")[: 1 - level or None]) if level else ""
                imports.append([".".join(filter(None, (start, module))), *(alias.name for alias in names)])
            case ast.Call(function, [ast.Constant(str(module)), *_]):
                if ast.unparse(function).rpartition(".")[2] in ("import_module", "__import__"):
                    imports.append([module])
    return [entry for entry in imports if entry[0] and (_of_package(entry[0]) or not _of_package(package))]


def _attributes(tree: ast.Module, alias: ast.alias) -> list[str]:
    """Return the names that a source takes from ``import fedatlas`` as attributes; none of any other module."""
    if alias.name != PACKAGE:
        return []
    local = alias.asname or alias.name
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return sorted({node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == local})


def _imported(imports: list[list[str]]) -> set[str]:
    """Return full names of modules. A name that is no module is an attribute of the one that it is imported from."""
    imported = set()
    for module, *names in imports:
        modules = {module_of_export(name) if module == PACKAGE else f"{module}.{name}" for name in names}
        imported |= modules
        if not names or not all(map(_path, modules)):
            imported.add(module)
    return imported


def module_of_export(name: str) -> str:
    """Return the module that defines a name of the interface: on it, and not on the interface, results depend."""
    return fedatlas.EXPORTS.get(name, f"{PACKAGE}.{name}")


def _of_package(name: str) -> bool:
    return name == PACKAGE or name.startswith(f"{PACKAGE}.")


def _path(name: str) -> Path | None:
    """Return the file of a module of the package, the study or an extension's package."""
    return _path_inside(name) if _of_package(name) else extensions.find_file(name)


@functools.cache
def _path_inside(name: str) -> Path | None:
    """Return the file of a module of the package, by its name: Python's importer would run parent packages."""
    base = ROOT.joinpath(*name.split(".")[1:])
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)
