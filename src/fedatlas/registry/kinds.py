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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Generic, TypeVar

from fedatlas.errors import UserError, did_you_mean, nearest
from fedatlas.registry import extensions
from fedatlas.registry.options import Option, construct, options, settle

T = TypeVar("T")
Named = dict[str, tuple[Any, str]]  # kinds, each with the full name of the module that declares it, by name and alias
NAME = re.compile(r"\w[\w.+-]*")  # names of kinds become parts of names of files


@dataclass(frozen=True, kw_only=True)
class Kind(ABC):
    """Base of all kinds: a frozen dataclass whose options are its fields. Its values are checked where it is made.

    name: in specifications. aliases: other names of the same kind.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        settle(self.title(), self)

    @classmethod
    def title(cls) -> str:
        """What sentences call the kind."""
        return cls.name

    @classmethod
    def options(cls) -> Mapping[str, Option]:
        """The kind's options by name."""
        return options(cls)

    @classmethod
    def summary(cls) -> str:
        """The first paragraph of the kind's docstring, on one line."""
        return first_paragraph(cls)


def first_paragraph(cls: type) -> str:
    """The first paragraph of a class's docstring, on one line."""
    return " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())


class Names(Sequence[str]):
    """The names of a family's kinds, sorted. No extension is imported to find that the package has a name."""

    def __init__(self, family: "Family[Any]") -> None:
        self.family = family

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.family.find(name) is not None

    def __getitem__(self, index: Any) -> Any:
        return sorted([*self.family.own, *self.family.added])[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self[:])

    def __len__(self) -> int:
        return len(self[:])

    def __repr__(self) -> str:
        return repr(self[:])


class Family(Generic[T]):
    """The kinds that lie in one package, and those that extensions add.

    what: the noun for sentences, such as ``algorithm``. package: full name of the package. base: class from which kinds
    derive; or, where ``records`` is true, of which the kinds are instances with a ``name``.

    Declarations import neither torch nor pandas, so looking through a folder is cheap. A kind that lies in a module of
    its own name is found without importing the others, and a kind of the package without importing extensions.
    """

    def __init__(self, what: str, package: str, base: type, records: bool = False) -> None:
        self.what, self.package, self.base, self.records = what, package, base, records
        self._asked: dict[str, tuple[Any, str] | None] = {}  # by name: the kind in the module of that name
        self._added: tuple[Any, Named] = ((), {})  # of which extensions, and their kinds

    def modules(self) -> list[str]:
        """Full names of the modules of the folder, sorted; then those of extensions that declare kinds."""
        return [*self._modules, *sorted({home for _, home in self.added.values()})]

    def names(self) -> Names:
        """The names of all kinds, sorted."""
        return Names(self)

    def find(self, name: str) -> tuple[Any, str] | None:
        """The kind of a name and the full name of the module that declares it; None if there is no such kind."""
        if name not in self._asked:
            self._asked[name] = self._alone(name)
        if (found := self._asked[name] or self.own.get(name)) is None and (found := self.added.get(name)):
            extensions.activate(found[1])
        return found

    def get(self, name: Any) -> Any:
        """The kind of a name: a class, or a record. Raises UserError, with a guess, if there is none."""
        return self._found(name)[0]

    def build(self, spec: Any, default: str | None = None) -> T:
        """The kind that a specification describes, with its options as fields.

        spec: a name, a mapping with ``kind`` and options, or null for the default. Raises UserError on an unknown kind
        or option, and on a value that does not fit.
        """
        name, values = self.split(spec, default)
        cls = self.get(name)
        return construct(f"{self.what} {name}", cls, values)

    def split(self, spec: Any, default: str | None = None) -> tuple[Any, dict[str, Any]]:
        """The kind's name and the options of a specification."""
        if not isinstance(spec, (str, Mapping)) and not (spec is None and default is not None):
            raise UserError(f"{self.what} is {spec!r}; it must be a kind, or a mapping with a kind and its options")
        values = {"kind": spec} if isinstance(spec, str) else dict(spec or {})
        if "kind" not in values and default is None:
            raise UserError(f"the {self.what} {spec!r} has no kind{did_you_mean('', self.names())}")
        return values.pop("kind", default), values

    def module(self, spec: Any, default: str | None = None) -> str:
        """Full name of the module that declares the kind of a specification."""
        return self._found(self.split(spec, default)[0])[1]

    @functools.cached_property
    def own(self) -> Named:
        """The kinds of the package."""
        return self._named((kind, module) for module in self._modules for kind in self._of(module))

    @property
    def added(self) -> Named:
        """The kinds of extensions. Raises UserError where one has the name of another kind, or is not sound."""
        loaded = extensions.load() if self.records or issubclass(self.base, Kind) else ()
        if self._added[0] is not loaded:
            found = [(kind, module.__name__) for module in loaded for kind in self._of(module.__name__)]
            for kind, home in found:
                _check(self.what, kind, home)
            self._added = loaded, self._named(found, self.own if found else {})
        return self._added[1]

    @functools.cached_property
    def _modules(self) -> list[str]:
        path = importlib.import_module(self.package).__path__
        return [f"{self.package}.{module.name}" for module in sorted(pkgutil.iter_modules(path), key=lambda m: m.name)]

    def _found(self, name: Any) -> tuple[Any, str]:
        found = self.find(name) if isinstance(name, str) else None
        if found is None:
            homes = sorted({**self.own, **self.added}.items())
            known = {kind: extensions.describe(kind, home) for kind, (_, home) in homes}
            guess = nearest(name, known)
            if not guess and extensions.study().root is None:
                guess = f"; kinds of your own are found in a folder that has {extensions.CONFIG}"
            raise UserError(f"unknown {self.what} {name!r}{guess} (known: {', '.join(known.values())})")
        return found

    def _alone(self, name: str) -> tuple[Any, str] | None:
        module = name.replace("-", "_").replace("+", "")
        if not module.isidentifier() or importlib.util.find_spec(f"{self.package}.{module}") is None:
            return None
        home = f"{self.package}.{module}"
        return next(((kind, home) for kind in self._of(home) if name in _called(kind)), None)

    def _named(self, found: Iterable[tuple[Any, str]], taken: Mapping[str, tuple[Any, str]] | None = None) -> Named:
        """Kinds by name. taken: kinds whose names these may not have."""
        named: Named = {}
        for kind, home in found:
            for name in _called(kind):
                other = (taken or {}).get(name) or named.setdefault(name, (kind, home))
                if other[0] is not kind:
                    both = " and ".join(extensions.location(one) or _path(one) for one in (home, other[1]))
                    raise UserError(f"two kinds of {self.what} are called {name!r}, in {both}: give one another name")
        return dict(sorted(named.items()))

    def _of(self, module: str) -> list[Any]:
        """Kinds that a module declares."""
        held = vars(importlib.import_module(module))
        if self.records:
            taken = _imported(module) if extensions.location(module) else set()
            return [value for name, value in held.items() if isinstance(value, self.base) and name not in taken]
        classes = [value for value in held.values() if isinstance(value, type) and issubclass(value, self.base)]
        return [cls for cls in dict.fromkeys(classes) if "name" in vars(cls) and cls.__module__ == module]


def _path(module: str) -> str:
    return f"{module.replace('.', '/')}.py"


def _called(kind: Any) -> tuple[str, ...]:
    return (kind.name, *getattr(kind, "aliases", ()))


def _imported(module: str) -> set[str]:
    """Names that an extension module imports: what they stand for is declared elsewhere."""
    path = extensions.find_file(module)
    nodes = ast.walk(ast.parse(path.read_bytes())) if path else []
    return {alias.asname or alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}


def _check(what: str, kind: Any, home: str) -> None:
    """Raise UserError if the kind of an extension lacks something without which it could not be used."""
    where, name, aliases = extensions.location(home), kind.name, getattr(kind, "aliases", ())
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise UserError(f"{where}: the name {name!r} of a kind of {what} must be letters, digits, _, ., + and -")
    if not isinstance(kind, type):
        return
    if isinstance(aliases, str):
        raise UserError(f"{where}: aliases of {name} must be a tuple of names: aliases = ({aliases!r},)")
    where = f"{where}, line {inspect.getsourcelines(kind)[1]}: {what} {name}"
    if "__dataclass_fields__" not in vars(kind):
        raise UserError(f"{where}: write @dataclass(frozen=True, kw_only=True) above the class")
    for one in fields(kind):
        if not one.metadata and one.init:
            raise UserError(f"{where}: give {one.name} a meaning: {one.name}: TYPE = option(doc=...)")
    try:
        options(kind)
    except Exception as error:
        raise UserError(f"{where}: the type of an option is not known: {error}") from error
    if missing := sorted(vars(kind)["__abstractmethods__"]):
        raise UserError(f"{where} has no method {missing[0]}, which every {what} must have")
