"""Experiment files: read, merged with a size, checked against the schema; errors name file, key and expectation."""

import copy
import functools
import re
from pathlib import Path

import yaml

from fedatlas.errors import UserError
from fedatlas.registry import did_you_mean

SIZES = ("smoke", "laptop", "paper")
MOST_VALUES = 100_000


def read_yaml(path):
    """A YAML file as plain objects. Raises UserError with the line of a syntax error or of a duplicate key."""
    path = Path(path)
    try:
        found = yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeys)
    except OSError as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        raise UserError(f"{path} {reason}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not text in UTF-8") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise UserError(f"{path}, line {mark.line + 1}: not valid YAML: {error.problem or error.context}") from None
    except RecursionError:
        raise UserError(f"{path} is nested too deeply") from None
    except (yaml.YAMLError, ValueError) as error:
        raise UserError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from None
    values, todo = 0, [found]
    while todo:  # aliases of aliases make gigabytes of a few lines, or a list that holds itself
        value, values = todo.pop(), values + 1
        if values > MOST_VALUES:
            raise UserError(f"{path} holds more than {MOST_VALUES:,} values, or itself")
        todo.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    return found


class _UniqueKeys(yaml.SafeLoader):
    """YAML in which a key given twice is an error and 1e-3 is a number."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, (dict, list)):
                raise yaml.constructor.ConstructorError(None, None, "a key must be a word", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} appears twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


_UniqueKeys.yaml_implicit_resolvers = copy.deepcopy(yaml.SafeLoader.yaml_implicit_resolvers)
_UniqueKeys.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)


def load(path, schema, size):
    """An experiment at a size: a dict with the schema's keys and the defaults filled in.

    path: the experiment's YAML, laid over the file that it ``extends``, if any. schema: path of the JSON schema. size:
    one of SIZES; its overrides are merged into the file (mappings by key, anything else replaced, null removes).
    Raises UserError.
    """
    path = Path(path)
    whole = document(path)
    validate(whole, schema, path)
    sizes = whole["sizes"]
    if size not in sizes:
        raise UserError(f"{path}: there is no size {size!r}{did_you_mean(size, sizes)}")
    merged = merge(whole, sizes[size] or {})
    validate(merged, schema, path, where=f"sizes.{size}: ")
    del merged["sizes"]
    for key, value in (("grid", {}), ("within", {}), ("tune", {}), ("seeds", [0]), ("figures", {}), ("claims", {})):
        merged.setdefault(key, value)
    for key in ("grid", "within"):
        merged[key] = {axis: values for axis, values in merged[key].items() if values is not None}
    merged["algorithms"] = {name: entry or {} for name, entry in merged["algorithms"].items()}
    merged.update(name=path.stem, size=size, file=str(path))
    return merged


def document(path, seen=()):
    """An experiment's file as it stands, laid over the one beside it that its key ``extends`` names, if any."""
    path = Path(path)
    found = read_yaml(path)
    if not isinstance(found, dict) or "extends" not in found:
        return found
    base = found.pop("extends")
    if base in seen:
        raise UserError(f"{path}: extends: {base} extends itself")
    others = {other.stem: other for other in path.parent.glob("*.yaml") if other != path}
    if base not in others:
        raise UserError(f"{path}: extends: there is no experiment {base!r}{did_you_mean(base, others)}")
    below = document(others[base], (*seen, base))
    if isinstance(below, dict) and all(isinstance(each.get("notes"), list) for each in (below, found)):
        found["notes"] = [*below["notes"], *found["notes"]]  # what deviates there deviates here
    return merge(below, found)


def merge(base, override):
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


def validate(document, schema, path, where=""):
    """Raise UserError, naming file and key, at the first place where a document does not fit its JSON schema."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator(Path(schema)).iter_errors(document))
    if error is None:
        return
    key = ".".join(str(part) for part in error.absolute_path) or "the file"
    message = error.message
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        extra = [name for name in error.instance if name not in known]
        message = f"unknown key {extra[0]!r}{did_you_mean(extra[0], known)}"
    elif error.validator == "required":
        message = f"the key {error.message.split(' is a required')[0]} is missing"
    elif error.validator in ("type", "enum", "minItems", "minimum", "exclusiveMinimum", "pattern", "minProperties"):
        expected = {"type": f"a value of type {error.validator_value}", "enum": f"one of {error.validator_value}"}
        limit = f"{error.validator} {error.validator_value}"
        message = f"expected {expected.get(error.validator, limit)}, found {error.instance!r}"
    described = error.schema.get("description")
    raise UserError(f"{path}: {where}{key}: {message}" + (f" ({described})" if described else ""))


@functools.cache
def _validator(schema):
    from jsonschema import Draft202012Validator

    return Draft202012Validator(yaml.safe_load(schema.read_text()))
