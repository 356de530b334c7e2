"""YAML files as JSON types: syntax errors and duplicate keys are told with their line."""

import copy
import re
from pathlib import Path
from typing import Any

import yaml

from fedatlas.errors import UserError

MOST_VALUES = 100_000
JSON_TYPES = (dict, list, str, int, float, bool, type(None))


def read_yaml(path: str | Path) -> Any:
    """A YAML file as JSON types. Raises UserError with the line of a syntax error or of a duplicate key."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        raise UserError(f"{path} {reason}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not text in UTF-8") from None
    return parse(text, path)


def parse(text: str, where: str | Path) -> Any:
    """YAML text as JSON types. where: the text comes from, for sentences. Raises UserError as ``read_yaml`` does."""
    try:
        found = yaml.load(text, Loader=_UniqueKeys)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise UserError(f"{where}, line {mark.line + 1}: not valid YAML: {error.problem or error.context}") from None
    except RecursionError:
        raise UserError(f"{where} is nested too deeply") from None
    except (yaml.YAMLError, ValueError) as error:
        raise UserError(f"{where}: not valid YAML: {' '.join(str(error).split())}") from None
    values, todo = 0, [found]
    while todo:  # aliases of aliases make gigabytes of a few lines, or a list that holds itself
        value, values = todo.pop(), values + 1
        if values > MOST_VALUES:
            raise UserError(f"{where} holds more than {MOST_VALUES:,} values, or itself")
        if not isinstance(value, JSON_TYPES):
            raise UserError(f"{where} holds {str(value)!r:.60}, which YAML reads as a {type(value).__name__}: quote it")
        todo.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    return found


class _UniqueKeys(yaml.SafeLoader):
    """YAML in which a key given twice is an error and 1e-3 is a number."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r:.60} is no text", key_node.start_mark
                )
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
