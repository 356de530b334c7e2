"""Kinds and families: algorithms, problems, figures and so on are found because their files exist.

A family is a folder. A kind is a class in one of its modules that derives from the family's base class and has a name
of its own; it is listed nowhere else. Specifications name kinds: a name alone, or a mapping with ``kind``
and the kind's options.
"""

import functools
import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from fedatlas.errors import UserError, did_you_mean, lookup
from fedatlas.options import Option, construct, options, settle

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Kind:
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


class Family(Generic[T]):
    """The kinds that lie in one package.

    what: the noun for sentences, such as ``algorithm``. package: full name of the package. base: class from which kinds
    derive; or, where ``records`` is true, of which the kinds are instances with a ``name``.

    Declarations import neither torch nor pandas, so looking through a folder is cheap. A kind that lies in a module of
    its own name is found without importing the others.
    """

    def __init__(self, what: str, package: str, base: type, records: bool = False) -> None:
        self.what, self.package, self.base, self.records = what, package, base, records
        self._asked: dict[str, Any] = {}  # by name: the kind in the module of that name, or None

    def modules(self) -> list[str]:
        """Full names of the modules of the folder, sorted."""
        path = importlib.import_module(self.package).__path__
        return [f"{self.package}.{module.name}" for module in sorted(pkgutil.iter_modules(path), key=lambda m: m.name)]

    def names(self) -> list[str]:
        """The names of all kinds, sorted."""
        return sorted(self._all)

    def get(self, name: Any) -> Any:
        """The kind of a name: a class, or a record. Raises UserError, with a guess, if there is none."""
        if isinstance(name, str) and name not in self._asked:
            self._asked[name] = self._alone(name)
        found = self._asked[name] if isinstance(name, str) else None
        return lookup(self.what, name, self._all) if found is None else found

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
        name, _ = self.split(spec, default)
        return self._homes[self.get(name).name] if self.records else self.get(name).__module__

    def _alone(self, name: str) -> Any:
        module = name.replace("-", "_").replace("+", "")
        if not module.isidentifier() or importlib.util.find_spec(f"{self.package}.{module}") is None:
            return None
        return next((kind for kind in self._of(f"{self.package}.{module}") if name in self._called(kind)), None)

    @functools.cached_property
    def _all(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for module in self.modules():
            for kind in self._of(module):
                for name in self._called(kind):
                    if found.setdefault(name, kind) is not kind:
                        raise UserError(f"two kinds of {self.what} are called {name!r}: {found[name]} and {kind}")
        return dict(sorted(found.items()))

    @functools.cached_property
    def _homes(self) -> dict[str, str]:
        return {kind.name: module for module in self.modules() for kind in self._of(module)}

    def _of(self, module: str) -> list[Any]:
        """Kinds that a module declares."""
        values = list(vars(importlib.import_module(module)).values())
        if self.records:
            return [value for value in values if isinstance(value, self.base)]
        classes = [value for value in values if isinstance(value, type) and issubclass(value, self.base)]
        return [cls for cls in dict.fromkeys(classes) if "name" in vars(cls) and cls.__module__ == module]

    @staticmethod
    def _called(kind: Any) -> tuple[str, ...]:
        return (kind.name, *getattr(kind, "aliases", ()))
