"""Kinds and families: algorithms, problems, figures and so on are found because their files exist.

A family is a folder. A kind is a class in one of its modules that derives from the family's base class and has a name
of its own; it is listed nowhere else. Specifications name kinds: a name alone, or a mapping with ``kind``
and the kind's options. Extensions (`fedatlas.registry.extensions`) add kinds to families in the same way.
"""

import ast
import functools
import importlib
import importlib.util
import inspect
import pkgutil
import re
from abc import ABC
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, TypeVar

from fedatlas.errors import UserError, did_you_mean
from fedatlas.registry import extensions
from fedatlas.registry.options import Option, Validated, construct, options

T = TypeVar("T")
KindTable = dict[str, tuple[Any, str]]  # by name and alias: the kind, and the full name of the module that defines it
NAME = re.compile(r"\w[\w.+-]*")  # names of kinds become parts of names of files


@dataclass(frozen=True, kw_only=True)
class Kind(Validated, ABC):
    """Base class of all kinds: a frozen dataclass whose fields are its options, validated when it is built.

    Attributes:
        name: Name in specifications.
        aliases: Further names of the same kind.
        reads: Files that a kind outside of the package reads, from the folder of its module. They are a part of what
            its results depend on, as its code is.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def title(cls) -> str:
        """Return the noun of the kind for sentences."""
        noun = next((family.noun for family in FAMILIES.values() if issubclass(cls, family.base)), "kind")
        return f"{noun} {cls.name}"

    @classmethod
    def options(cls) -> Mapping[str, Option]:
        """Return the kind's options by name."""
        return options(cls)


class ClassName(str):
    """The name of a kind with its class, which need lie in no folder: what stands for ``kind`` where an object did."""

    kind: type[Kind]


def specification(value: Any) -> Any:
    """Return a value of options with mappings of ``kind`` and options in place of kinds, their objects and classes."""
    if isinstance(value, Mapping):
        return {key: specification(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(specification, value))
    cls = value if isinstance(value, type) else type(value)
    if not issubclass(cls, Kind) or not hasattr(cls, "name"):
        return value
    name: Any = cls.name
    if cls.__module__.partition(".")[0] != __package__.partition(".")[0]:
        name = ClassName(name)
        name.kind = cls
    values = {} if value is cls else {name: getattr(value, name) for name in cls.options()}
    return {"kind": name, **specification(values)}


def classes(spec: Any) -> list[type[Kind]]:
    """Return the classes that a value of `specification` brings along."""
    if isinstance(spec, ClassName):
        return [spec.kind]
    parts = spec.values() if isinstance(spec, Mapping) else spec if isinstance(spec, (list, tuple)) else ()
    return [cls for part in parts for cls in classes(part)]


def first_paragraph(value: Any) -> str:
    """Return the first paragraph of the docstring of a class or a function, on one line."""
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())


FAMILIES: "dict[str, Family[Any]]" = {}  # by noun, which an option names whose value is one of the kinds


def without_defaults(declared: Mapping[str, Option], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of options in the order of their declaration, without those that are defaults.

    Args:
        declared: Options by name.
        values: Values by name. Those of other names come last.
    """
    result = {}
    for name in [name for name in declared if name in values]:
        value, default = values[name], declared[name].default
        default = default() if callable(default) else default
        if family := FAMILIES.get(declared[name].family or ""):
            value, default = family.canonical(value), family.canonical(default)
        if value != default:
            result[name] = value
    return result | {name: values[name] for name in sorted(values.keys() - declared.keys())}


class Family(Generic[T]):
    """The kinds that lie in one package, and those that extensions add.

    Declarations import neither torch nor pandas, so looking through a folder is cheap. A kind that lies in a module of
    its name is found without importing the other modules, and a kind of the package without importing extensions.

    Args:
        noun: Noun of a kind for sentences, such as ``algorithm``.
        package: Full name of the package that holds the modules.
        base: Class from which kinds derive.
        records: Whether kinds are instances of ``base`` with a ``name``, and not classes.
    """

    def __init__(self, noun: str, package: str, base: type, records: bool = False) -> None:
        self.noun, self.package, self.base, self.records = noun, package, base, records
        FAMILIES[noun] = self
        self._by_module: dict[str, tuple[Any, str] | None] = {}  # by name: the kind in the module of that name
        self._extension_cache: tuple[Any, KindTable] = ((), {})  # loaded extensions, and their kinds

    def modules(self) -> list[str]:
        """Return the full names of the folder's modules, sorted; then those of extensions that define kinds."""
        return [*self._modules, *sorted({module for _, module in self.extension_kinds.values()})]

    def names(self) -> list[str]:
        """Return the names of all kinds, sorted."""
        return sorted([*self.builtin, *self.extension_kinds])

    def __contains__(self, name: Any) -> bool:
        return isinstance(name, str) and self.find(name) is not None

    def find(self, name: str) -> tuple[Any, str] | None:
        """Return the kind of a name and the full name of the module that defines it; None if there is no such kind."""
        if isinstance(name, ClassName):
            return (name.kind, name.kind.__module__) if issubclass(name.kind, self.base) else None
        if name not in self._by_module:
            self._by_module[name] = self._find_in_module(name)
        return self._by_module[name] or self.builtin.get(name) or self.extension_kinds.get(name)

    def resolve(self, name: Any) -> Any:
        """Return the name of the kind that a person means by a name in capitals; other names as they are."""
        return name.lower() if isinstance(name, str) and name not in self and name.lower() in self else name

    def get(self, name: Any) -> Any:
        """Return the kind of a name: a class, or a record. Raise UserError, with a guess, if there is none."""
        return self._entry(name)[0]

    def build(self, spec: Any, default: str | None = None) -> T:
        """Return the kind that a specification describes, with its options as fields.

        Args:
            spec: A name, a mapping with ``kind`` and options, or None for the default.
            default: Name of the kind of a specification that names none.

        Raises:
            UserError: The kind or an option is unknown, or a value does not fit.
        """
        return self.create(*self.split(spec, default))

    def create(self, name: Any, values: Mapping[str, Any]) -> T:
        """Return the kind of a name with its options as fields. Raise UserError where one does not fit."""
        return construct(f"{self.noun} {name}", self.get(name), values)

    def split(self, spec: Any, default: str | None = None) -> tuple[Any, dict[str, Any]]:
        """Return the kind's name and the options of a specification. Arguments are those of `build`."""
        if not isinstance(spec, (str, Mapping)) and not (spec is None and default is not None):
            raise UserError(f"{self.noun} is {spec!r}; it must be a kind, or a mapping with a kind and its options")
        values = {"kind": spec} if isinstance(spec, str) else dict(spec or {})
        if "kind" not in values and default is None:
            raise UserError(f"the {self.noun} {spec!r} has no kind{did_you_mean('', self.names())}")
        return values.pop("kind", default), values

    def canonical(self, spec: Any) -> Any:
        """Return a specification as a mapping without options that are defaults, in the order of their declaration.

        What names no kind stays as it is.
        """
        try:
            name, values = self.split(spec)
            declared = self.get(name).options()
        except UserError:
            return spec
        return {"kind": name, **without_defaults(declared, values)}

    def module(self, spec: Any, default: str | None = None) -> str:
        """Return the full name of the module that defines the kind of a specification."""
        return self._entry(self.split(spec, default)[0])[1]

    @functools.cached_property
    def builtin(self) -> KindTable:
        """The kinds of the package."""
        return self._table((kind, module) for module in self._modules for kind in self._defined_in(module))

    @property
    def extension_kinds(self) -> KindTable:
        """The kinds of extensions. Raises UserError if a kind is not sound or has the name of another one."""
        loaded = extensions.load() if self.records or issubclass(self.base, Kind) else ()
        if self._extension_cache[0] is not loaded:
            entries = [(kind, module.__name__) for module in loaded for kind in self._defined_in(module.__name__)]
            for kind, module_name in entries:
                _validate_kind(self.noun, kind, module_name)
            self._extension_cache = loaded, self._table(entries, self.builtin if entries else {})
        return self._extension_cache[1]

    @functools.cached_property
    def _modules(self) -> list[str]:
        path = importlib.import_module(self.package).__path__
        return [f"{self.package}.{module.name}" for module in sorted(pkgutil.iter_modules(path), key=lambda m: m.name)]

    def _entry(self, name: Any) -> tuple[Any, str]:
        entry = self.find(name) if isinstance(name, str) else None
        if entry is None and isinstance(name, ClassName):
            raise UserError(f"{self.noun} is a {name.kind.__name__}; it must be a kind of {self.base.__name__}")
        if entry is None:
            raise UserError(f"unknown {self.noun} {name!r}{did_you_mean(name, [*self.extension_kinds, *self.builtin])}")
        return entry

    def _find_in_module(self, name: str) -> tuple[Any, str] | None:
        """Return the kind of a name if it lies in the module of that name."""
        stem = name.replace("-", "_").replace("+", "")
        if not stem.isidentifier() or importlib.util.find_spec(f"{self.package}.{stem}") is None:
            return None
        module = f"{self.package}.{stem}"
        return next(((kind, module) for kind in self._defined_in(module) if name in _names(kind)), None)

    def _table(self, entries: Iterable[tuple[Any, str]], reserved: Mapping[str, Any] | None = None) -> KindTable:
        """Return kinds by name and alias. Raise UserError if a name stands for two kinds, or is reserved."""
        table: KindTable = {}
        for kind, module in entries:
            for name in _names(kind):
                other = (reserved or {}).get(name) or table.setdefault(name, (kind, module))
                if other[0] is not kind:
                    files = [extensions.location(m) or f"{m.replace('.', '/')}.py" for m in (module, other[1])]
                    places = " and ".join(files)
                    raise UserError(f"two kinds of {self.noun} are called {name!r}, in {places}: give one another name")
        return dict(sorted(table.items()))

    def _defined_in(self, module: str) -> list[Any]:
        """Return the kinds that a module defines, and not those that it imports."""
        attributes = vars(importlib.import_module(module))
        if self.records:
            imported = _imported_names(module) if extensions.location(module) else set()
            return [
                value for name, value in attributes.items() if isinstance(value, self.base) and name not in imported
            ]
        classes = [value for value in attributes.values() if isinstance(value, type) and issubclass(value, self.base)]
        return [cls for cls in dict.fromkeys(classes) if "name" in vars(cls) and cls.__module__ == module]


def _names(kind: Any) -> tuple[str, ...]:
    return (kind.name, *getattr(kind, "aliases", ()))


def _imported_names(module: str) -> set[str]:
    """Return the names that an extension module imports from other modules."""
    path = extensions.find_file(module)
    nodes = ast.walk(ast.parse(path.read_bytes())) if path else []
    return {alias.asname or alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}


def _validate_kind(noun: str, kind: Any, module: str) -> None:
    """Raise UserError if the kind of an extension lacks something without which it could not be used."""
    file, name = extensions.location(module), kind.name
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise UserError(f"{file}: the name {name!r} of a kind of {noun} must be letters, digits, _, ., + and -")
    if not isinstance(kind, type):
        return
    subject = f"{file}, line {inspect.getsourcelines(kind)[1]}: {noun} {name}"
    if "__dataclass_fields__" not in vars(kind):
        raise UserError(f"{subject}: write @dataclass(frozen=True, kw_only=True) above the class")
    for field in fields(kind):
        if not field.metadata and field.init:
            raise UserError(f"{subject}: give {field.name} a meaning: {field.name}: TYPE = option(doc=...)")
    try:
        options(kind)
    except Exception as error:
        raise UserError(f"{subject}: the type of an option is not known: {error}") from error
