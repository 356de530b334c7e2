"""Experiment files: read, merged with a size and checked. Errors name the file, the key and what was expected.

Claims of one form, written as a table: a claim with the key ``each`` stands for a claim for each row.

    ahead-of-{key}:
      each: {fedavg: FedAvg, feddyn: FedDyn}
      text: FedSpeed is ahead of {value}.
      check: {kind: better, algorithm: fedspeed, than: ["{key}"]}

The keys of ``each`` fill ``{key}``. A row that is a number or text fills ``{value}``; a row that is a mapping fills the
placeholders of its names, and those of its names that are keys of a claim, such as ``note``, are laid over the claim. A
text that is a placeholder and nothing else takes the value with its type.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError, did_you_mean, name_place
from fedatlas.experiments import SIZES, specification
from fedatlas.experiments.specification import Experiment
from fedatlas.experiments.view import Claim, merge
from fedatlas.io.files import parse_yaml, read_text, read_yaml

OMISSIBLE = ("notes", "cases", "algorithms", "figures", "claims", "sizes")  # sections that ``extends`` can leave out
CLAIM_KEYS = {field.name for field in fields(Claim)}


def load(path: str | Path, size: str, root: str | Path | None = None, folders: Sequence[Path] = ()) -> Experiment:
    """Load an experiment at a size.

    Args:
        path: Path of the experiment's YAML, which is laid over the file that it ``extends``, if any.
        size: One of SIZES, whose overrides are merged into the file: mappings key by key, null removes, anything else
            is replaced.
        root: Folder to which the experiment's ``file`` is relative, so that results do not depend on where the project
            lies.
        folders: Folders of more experiments that can be extended; of two with one name the later one counts.

    Raises:
        UserError: The file does not fit. The sentence names the file and the key.
    """
    path = Path(path)
    content = document(path, folders)
    sizes = content.pop("sizes", None)
    if not isinstance(sizes, dict) or not all(isinstance(override, dict | None) for override in sizes.values()):
        raise UserError(f"{path}: sizes is {sizes!r:.60}; it must be a mapping of sizes to mappings or null")
    for name in sizes:
        if name not in SIZES:
            raise UserError(f"{path}: sizes.{name} is unknown{did_you_mean(name, SIZES)}")
    if size not in sizes:
        raise UserError(f"{path}: there is no size {size!r}{did_you_mean(size, sizes)}")
    file = path.relative_to(root) if root and path.is_relative_to(root) else path
    merged = merge(content, sizes[size] or {})
    return specification.experiment(path.stem, size, str(file), merged)


def document(path: str | Path, folders: Sequence[Path] = (), extending: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Return an experiment's file with its tables of claims expanded, laid over the one that ``extends`` names, if any.

    That one lies beside it or in one of ``folders``; where several have the name, it is the one beside it. A mapping
    ``extends: {experiment: NAME, claims: none}`` leaves sections of it out.

    Raises:
        UserError: The file holds no mapping, a table of claims does not fit, or there is no file that it extends.
    """
    path = Path(path)
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise UserError(f"{path}: the file holds {content!r:.60}; it must hold a mapping of keys to values")
    if isinstance(content.get("claims"), dict):
        with name_place(str(path)):
            content["claims"] = expand_tables(content["claims"])
    if "extends" not in content:
        return content
    name, omitted = _extension(path, content.pop("extends"))
    files = {file.stem: file for folder in (*folders, path.parent) for file in folder.glob("*.yaml") if file != path}
    if files.get(name) in extending:
        raise UserError(f"{path}: extends: {name} extends itself")
    if name not in files:
        raise UserError(f"{path}: extends: there is no experiment {name!r}{did_you_mean(name, files)}")
    base = document(files[name], folders, (*extending, path))
    base = {key: value for key, value in base.items() if key not in omitted}
    if isinstance(base.get("notes"), list) and isinstance(content.get("notes"), list):
        content["notes"] = [*base["notes"], *content["notes"]]  # what deviates there deviates here
    merged: dict[str, Any] = merge(base, content)
    return merged


def extended(path: str | Path) -> str | None:
    """Return the name of the experiment that a file extends, or None."""
    text = read_text(path)
    content = parse_yaml(text, path) if "extends" in text else None  # few do, and to parse a file takes milliseconds
    extends = content.get("extends") if isinstance(content, dict) else None
    return None if extends is None else _extension(Path(path), extends)[0]


def _extension(path: Path, extends: Any) -> tuple[str, list[str]]:
    """Return the name of the experiment that a file extends, and the sections that it leaves out."""
    entries = extends if isinstance(extends, dict) else {"experiment": extends}
    omitted = [key for key, value in entries.items() if key != "experiment"]
    if not isinstance(entries.get("experiment"), str) or any(
        key not in OMISSIBLE or entries[key] != "none" for key in omitted
    ):
        raise UserError(
            f"{path}: extends is {extends!r:.80}; it must be the name of an experiment, or a mapping such as "
            f"{{experiment: NAME, claims: none}}, where {', '.join(OMISSIBLE)} can be none"
        )
    return entries["experiment"], omitted


def expand_tables(claims: Mapping[str, Any]) -> dict[str, Any]:
    """Return the claims of an experiment file with a claim for each row of every table, in the order of the rows.

    Raises:
        UserError: A table is not a list or mapping of rows, a placeholder has no value, a value no placeholder, or two
            claims have one name.
    """
    expanded: dict[str, Any] = {}
    for name, claim in claims.items():
        for row_name, row in _rows(name, claim) if isinstance(claim, Mapping) and "each" in claim else [(name, claim)]:
            if row_name in expanded:
                raise UserError(f"claims: two claims have the name {row_name!r}; the name of a table needs {{key}}")
            expanded[row_name] = row
    return expanded


def _rows(name: Any, claim: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the names and claims of a table."""
    table = claim["each"]
    if isinstance(table, list):
        table = {key: {} for key in table}
    if not isinstance(table, Mapping) or not table:
        raise UserError(
            f"claims.{name}: each is {table!r:.60}; it must be a list of keys, or a mapping of keys to rows"
        )
    template = {name: {key: value for key, value in claim.items() if key != "each"}}
    claims = []
    for key, row in table.items():
        values = {"key": str(key), **(row if isinstance(row, Mapping) else {"value": row})}
        laid_over = {value for value in values if value != "key" and f"{{{value}}}" not in str(template)}
        for value in sorted(laid_over - CLAIM_KEYS):
            raise UserError(f"claims.{name}: each.{key} has {value!r}, which no placeholder {{{value}}} uses")
        ((row_name, row_claim),) = _fill(template, values, f"claims.{name}").items()
        claims.append((row_name, merge(row_claim, {value: values[value] for value in laid_over})))
    return claims


def _fill(part: Any, values: Mapping[str, Any], where: str) -> Any:
    """Return a part of a claim with values in place of placeholders."""
    if isinstance(part, Mapping):
        return {_fill(key, values, where): _fill(value, values, where) for key, value in part.items()}
    if isinstance(part, list):
        return [_fill(item, values, where) for item in part]
    if not isinstance(part, str):
        return copy.deepcopy(part)
    if part.startswith("{") and part.endswith("}") and part[1:-1].isidentifier():
        if part[1:-1] not in values:
            raise UserError(f"{where}: the placeholder {part} has no value in each")
        return copy.deepcopy(values[part[1:-1]])
    for name, value in values.items():
        part = part.replace(f"{{{name}}}", str(value))
    return part
