"""Claims of one form, written as a table: a claim with the key ``each`` stands for a claim for each row.

    ahead-of-{key}:
      each: {fedavg: FedAvg, feddyn: FedDyn}
      text: FedSpeed is ahead of {value}.
      check: {kind: better, algorithm: fedspeed, than: ["{key}"]}

The keys of ``each`` fill ``{key}``. A row that is a number or text fills ``{value}``; a row that is a mapping fills the
placeholders of its names, and those of its names that are keys of a claim, such as ``note``, are laid over the claim. A
text that is a placeholder and nothing else takes the value with its type.
"""

import copy
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments.claim import Claim
from fedatlas.experiments.merging import merge

KEYS = {field.name for field in fields(Claim)}


def expand_tables(claims: Any) -> Any:
    """Return the claims of an experiment file with a claim for each row of every table, in the order of the rows.

    Args:
        claims: The section as it stands in the file. Anything but a mapping is returned as it is.

    Raises:
        UserError: A table is not a list or mapping of rows, a placeholder has no value, a value no placeholder, or two
            claims have one name.
    """
    if not isinstance(claims, Mapping):
        return claims
    expanded: dict[Any, Any] = {}
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
    template = {key: value for key, value in claim.items() if key != "each"}
    claims = []
    for key, row in table.items():
        values = {"key": str(key), **(row if isinstance(row, Mapping) else {"value": row})}
        used: set[str] = set()
        filled = _fill({name: template}, values, used, f"claims.{name}")
        ((row_name, row_claim),) = filled.items()
        if unused := [value for value in values if value not in {*used, *KEYS, "key"}]:
            raise UserError(f"claims.{name}: each.{key} has {unused[0]!r}, which no placeholder {{{unused[0]}}} uses")
        overlay = {value: values[value] for value in values if value in KEYS and value not in used}
        claims.append((row_name, merge(row_claim, overlay)))
    return claims


def _fill(part: Any, values: Mapping[str, Any], used: set[str], where: str) -> Any:
    """Return a part of a claim with values in place of placeholders, and add the names of these values to ``used``."""
    if isinstance(part, Mapping):
        return {_fill(key, values, used, where): _fill(value, values, used, where) for key, value in part.items()}
    if isinstance(part, list):
        return [_fill(item, values, used, where) for item in part]
    if not isinstance(part, str):
        return copy.deepcopy(part)
    if part.startswith("{") and part.endswith("}") and part[1:-1].isidentifier():
        if part[1:-1] not in values:
            raise UserError(f"{where}: the placeholder {part} has no value in each")
        used.add(part[1:-1])
        return copy.deepcopy(values[part[1:-1]])
    for name, value in values.items():
        if f"{{{name}}}" in part:
            used.add(name)
            part = part.replace(f"{{{name}}}", str(value))
    return part
