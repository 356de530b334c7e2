"""Experiment files: read, merged with a size and checked. Errors name the file, the key and what was expected."""

import copy
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError, did_you_mean
from fedatlas.experiments import specification
from fedatlas.experiments.specification import Experiment
from fedatlas.io.yaml import read_yaml

SIZES = ("smoke", "laptop", "paper")


def load(path: str | Path, size: str, root: str | Path | None = None, shipped: str | Path | None = None) -> Experiment:
    """An experiment at a size.

    path: of the experiment's YAML, which is laid over the file that it ``extends``, if any. size: one of SIZES, whose
    overrides are merged into the file (mappings key by key, anything else replaced, null removes). root: folder that
    the experiment's ``file`` is told relative to, so that results do not depend on where the project lies. shipped: a
    folder of more experiments that can be extended. Raises UserError that names the file and the key.
    """
    path = Path(path)
    whole = document(path, shipped)
    if not isinstance(whole, dict):
        raise UserError(f"{path}: the file holds {whole!r:.60}; it must hold a mapping of keys to values")
    sizes = whole.pop("sizes", None)
    if not isinstance(sizes, dict) or "smoke" not in sizes:
        raise UserError(f"{path}: sizes is {sizes!r:.60}; it must be a mapping that holds at least smoke")
    for name, override in sizes.items():
        if name not in SIZES or not isinstance(override, dict | None):
            what = f"{override!r:.60}; it must be a mapping or null" if name in SIZES else "unknown"
            raise UserError(f"{path}: sizes.{name} is {what}{'' if name in SIZES else did_you_mean(name, SIZES)}")
    if size not in sizes:
        raise UserError(f"{path}: there is no size {size!r}{did_you_mean(size, sizes)}")
    file = path.relative_to(root) if root and path.is_relative_to(root) else path
    return specification.experiment(path.stem, size, str(file), merge(whole, sizes[size] or {}))


def document(path: str | Path, shipped: str | Path | None = None, seen: tuple[Path, ...] = ()) -> Any:
    """An experiment's file as it stands, laid over the one that its key ``extends`` names, if any.

    That one lies beside it or in the folder ``shipped``; where both have the name, it is the one beside it.
    """
    path = Path(path)
    found = read_yaml(path)
    if not isinstance(found, dict) or "extends" not in found:
        return found
    base = found.pop("extends")
    if not isinstance(base, str):
        raise UserError(f"{path}: extends is {base!r:.60}; it must be the name of an experiment")
    folders = [path.parent] if shipped is None else [Path(shipped), path.parent]
    others = {other.stem: other for folder in folders for other in folder.glob("*.yaml") if other != path}
    if others.get(base) in seen:
        raise UserError(f"{path}: extends: {base} extends itself")
    if base not in others:
        raise UserError(f"{path}: extends: there is no experiment {base!r}{did_you_mean(base, others)}")
    below = document(others[base], shipped, (*seen, path))
    if isinstance(below, dict) and all(isinstance(each.get("notes"), list) for each in (below, found)):
        theirs, ours = below["notes"], found["notes"]  # what deviates there deviates here
        found["notes"] = ours[1:] if ours[:1] == [None] else [*theirs, *ours]
    return merge(below, found)


def merge(base: Any, override: Any) -> Any:
    """base with override laid over it: mappings by key, anything else replaced, None removes a key."""
    if not isinstance(base, dict) or not isinstance(override, dict):
        return copy.deepcopy(override)
    if "kind" in base and override.get("kind", base["kind"]) != base["kind"]:
        return copy.deepcopy(override)  # options of one kind mean nothing to another
    merged = copy.deepcopy(base)
    for key, value in override.items():
        if value is None and merged.get(key) is not None:
            merged.pop(key)
        else:
            merged[key] = merge(merged.get(key), value) if isinstance(merged.get(key), dict) else copy.deepcopy(value)
    return merged
