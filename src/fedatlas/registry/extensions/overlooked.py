"""Classes of a user's files that are no kinds yet: they lie outside the folder of extensions, or have no name."""

import ast
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from fedatlas.errors import UserError
from fedatlas.io.text import read_text
from fedatlas.registry.extensions.discovery import modules
from fedatlas.registry.extensions.settings import study


class Overlooked(NamedTuple):
    """A class that is not found.

    Attributes:
        file: Its file, relative to the study.
        cls: Name of the class.
        name: Name of the kind, or None where the class declares none.
        inside: Whether the file lies where extensions are searched for.
    """

    file: str
    cls: str
    name: str | None
    inside: bool

    def is_meant_by(self, name: str) -> bool:
        """Return whether a user who gives a name may mean this class: by its name, or by those of class and file."""
        return _letters(name) in map(_letters, (self.name or self.cls, Path(self.file).stem))

    def explain(self, name: str) -> str:
        """Return why the class is not found and what to do. name: What the user called it."""
        if not self.inside and study().root is None:
            return f"class {self.cls} in {self.file} lies in no study: move it to extensions/ of one (`fedatlas init`)"
        if not self.inside:
            places = " or ".join(path if path.endswith(".py") else f"{path}/" for path in study().paths)
            return f"class {self.cls} in {self.file} lies outside {places}, where it would be found: move it there"
        return f"class {self.cls} in {self.file} has no name: write name = {name!r} in it"


def find_overlooked(bases: Collection[str]) -> list[Overlooked]:
    """Return the classes of the study's files that derive from a class by its name and are no kinds.

    Nothing is imported. Files lie in the study's folder, or one folder deeper; outside a study, in the working folder.

    Args:
        bases: Names of classes from which kinds derive.
    """
    root = study().root or Path.cwd()
    found = set(modules().values())
    outside = sorted({*root.glob("*.py"), *root.glob("[!.]*/*.py")} - found)
    return [
        Overlooked(str(file.relative_to(root)), cls, name, inside)
        for files, inside in ((sorted(found), True), (outside, False))
        for file in files
        if file.is_relative_to(root)
        for cls, name in _classes(file, bases)
        if not (inside and name)
    ]


def _classes(file: Path, bases: Collection[str]) -> Iterator[tuple[str, str | None]]:
    """Yield the names of the classes of a file that derive from others by name, each with the name that it declares."""
    try:
        text = read_text(file)
        tree = ast.parse(text) if any(base in text for base in bases) else ast.Module([], [])
    except (UserError, ValueError, SyntaxError, RecursionError):
        return
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and {ast.unparse(base).rpartition(".")[2] for base in node.bases} & {*bases}:
            yield node.name, _declared_name(node)


def _declared_name(node: ast.ClassDef) -> str | None:
    """Return the text that a class assigns to ``name``, or None."""
    for line in node.body:
        targets = (
            line.targets if isinstance(line, ast.Assign) else [line.target] if isinstance(line, ast.AnnAssign) else ()
        )
        if any(isinstance(target, ast.Name) and target.id == "name" for target in targets):
            value = getattr(line, "value", None)
            return str(value.value) if isinstance(value, ast.Constant) else ast.unparse(value) if value else None
    return None


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()
