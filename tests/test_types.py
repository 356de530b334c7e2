"""Public functions and methods say the types of all arguments and of what they return."""

import ast
from pathlib import Path

import pytest

import fedatlas

ROOT = Path(fedatlas.__file__).parent
FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))
# Hooks, whose types the base class declares, read like the paper in subclasses: the base class with its file, and the
# files of subclasses.
HOOKS = {
    ("federation/algorithms/base.py", "Algorithm"): [name for name in FILES if name.startswith("algorithms/")],
}
COMPILED = {"njit", "intrinsic"}  # numba finds the types where a function is called


def public(name):
    """Whether a name is public. Methods such as ``__init__`` are as public as their class."""
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))


def functions(body, owner=None):
    """Class, or None, and tree of all public functions of a module or of a public class, those in branches too."""
    for node in body:
        if isinstance(node, ast.ClassDef) and public(node.name):
            yield from functions(node.body, node.name)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and public(node.name):
            yield owner, node
        elif isinstance(node, (ast.If, ast.Try, ast.With)):
            yield from functions([*node.body, *getattr(node, "orelse", [])], owner)


def decorators(function):
    """Last names of the decorators: ``setter`` of ``@f.setter``, ``njit`` of ``@njit(cache=True)``."""
    for node in function.decorator_list:
        yield ast.unparse(node.func if isinstance(node, ast.Call) else node).rpartition(".")[2]


def complete(owner, function):
    """Whether all arguments, but for self or cls, and the return have types."""
    given = function.args
    arguments = [*given.posonlyargs, *given.args]
    if owner and "staticmethod" not in decorators(function):
        arguments = arguments[1:]
    arguments += [*given.kwonlyargs, *filter(None, [given.vararg, given.kwarg])]
    return function.returns is not None and all(argument.annotation for argument in arguments)


def tree(name):
    return ast.parse((ROOT / name).read_text()).body


def hooks(name):
    """Names of the hooks that subclasses in a file override, and the base classes that declare them."""
    bases = [home for home, files in HOOKS.items() if name in files]
    names = {f.name for file, base in bases for owner, f in functions(tree(file)) if owner == base}
    return names, {base for file, base in bases if file == name}


@pytest.mark.parametrize("name", [name for name in FILES if all(map(public, Path(name).with_suffix("").parts))])
def test_public_functions_have_types(name):
    overridden, bases = hooks(name)
    missing = [
        f"{owner}.{function.name}" if owner else function.name
        for owner, function in functions(tree(name))
        if not complete(owner, function)
        and not COMPILED & set(decorators(function))
        and not (owner and owner not in bases and function.name in overridden)
    ]
    assert not missing


@pytest.mark.parametrize("signature", ["f(self, x)", "f(self, x: int)", "f(self, *x) -> int", "f(self, *, x) -> int"])
def test_what_lacks_a_type_is_found(signature):
    ((owner, function),) = functions(ast.parse(f"class A:\n    def {signature}: ...").body)
    assert not complete(owner, function)


@pytest.mark.parametrize("home", HOOKS, ids=lambda home: home[1])
def test_base_classes_declare_types_of_their_hooks(home):
    file, base = home
    declared = [function for owner, function in functions(tree(file)) if owner == base]
    assert declared and all(complete(base, function) for function in declared)
