"""YAML files as JSON types; sentences about syntax errors and duplicate keys name the line."""

import functools
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import yaml

from fedatlas.errors import UserError
from fedatlas.io.files import read_text

MAX_VALUES = 100_000
MAX_DEPTH = 100
TAG_PREFIX = "tag:yaml.org,2002:"
JSON_TAGS = {"null", "bool", "int", "float", "str", "seq", "map"}


def read_yaml(path: str | Path) -> Any:
    """Return the content of a YAML file as JSON types.

    Raises:
        UserError: The file cannot be read, is not YAML in UTF-8, holds a key twice or a value that is of no JSON type.
    """
    return parse_yaml(read_text(path), path)


def parse_yaml(text: str, source: str | Path) -> Any:
    """Return the content of YAML text as JSON types.

    Args:
        text: The YAML.
        source: File or option that holds the text, for sentences.

    Raises:
        UserError: As for `read_yaml`.
    """
    return pickle.loads(_parsed(text, str(source)))


@functools.lru_cache(200)  # an experiment is read at each of its sizes, and where others extend it
def _parsed(text: str, source: str) -> bytes:
    try:
        content = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = min(mark.line, text.count("\n")) + 1  # libyaml marks a missing end on the line behind the last
        raise UserError(f"{source}, line {line}: not valid YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError) as error:  # of a character that Unicode does not have, too
        raise UserError(f"{source}: not valid YAML: {' '.join(str(error).split())}") from None
    count, stack = 0, [content]
    while stack:  # aliases of aliases make gigabytes of a few lines, or a list that holds itself
        value, count = stack.pop(), count + 1
        if count > MAX_VALUES:
            raise UserError(f"{source} holds more than {MAX_VALUES:,} values, or itself")
        stack.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    return pickle.dumps(content)


class _Loader(yaml.CSafeLoader):
    """YAML of JSON types: a duplicate key is an error, 1e-3 is a number, and depth and size are bounded."""

    depth = 0

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if (kind := node.tag.removeprefix(TAG_PREFIX)) not in JSON_TAGS:
            raise _error(node, f"there is {_excerpt(node)}, which YAML reads as a {kind}: quote it")
        try:
            value = super().construct_object(node, deep)
            fits = kind != "int" or abs(value) <= sys.float_info.max
        except (ValueError, LookupError, AttributeError, TypeError):  # constructors trust that a tag fits its text
            fits = False
        # an escape such as \ud800 is half a character, which cannot be written
        if not fits or (kind == "str" and re.search("[\ud800-\udfff]", value)):
            raise _error(node, f"{_excerpt(node)} cannot be read as {kind}")
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = set()
        for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise _error(key_node, f"the key {key!r:.60} is not text")
            if key in keys:
                raise _error(key_node, f"the key {key!r:.60} appears twice")
            keys.add(key)
        return super().construct_mapping(node, deep)

    # Called as nodes are entered and left. Without a bound, libyaml's recursion would end the process.
    def descend_resolver(self, parent: Any, index: Any) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise yaml.YAMLError("it is nested too deeply")
        super().descend_resolver(parent, index)

    def ascend_resolver(self) -> None:
        self.depth -= 1
        super().ascend_resolver()


def _error(node: yaml.Node, problem: str) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _excerpt(node: yaml.Node) -> str:
    return f"{node.value!r:.60}" if isinstance(node, yaml.ScalarNode) else "a list or a mapping"


_Loader.add_implicit_resolver(f"{TAG_PREFIX}float", re.compile(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789"))
