"""YAML files as JSON types; sentences about syntax errors and duplicate keys name the line."""

import copy
import re
from pathlib import Path
from typing import Any

import yaml

from fedatlas.errors import UserError

try:
    from yaml import CSafeLoader
except ImportError:  # PyYAML without libyaml
    from yaml import SafeLoader as CSafeLoader

MAX_VALUES = 100_000
MAX_DEPTH = 100
JSON_TYPES = (dict, list, str, int, float, bool, type(None))


def read_yaml(path: str | Path) -> Any:
    """Return the content of a YAML file as JSON types.

    Raises:
        UserError: The file cannot be read, is not YAML in UTF-8 or holds a key twice.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        raise UserError(f"{path} {reason}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not text in UTF-8") from None
    return parse(text, path)


def parse(text: str, source: str | Path) -> Any:
    """Return the content of YAML text as JSON types.

    Args:
        text: The YAML.
        source: File or option that holds the text, for sentences.

    Raises:
        UserError: As for `read_yaml`.
    """
    try:
        content = _load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise UserError(f"{source}, line {mark.line + 1}: not valid YAML: {error.problem or error.context}") from None
    except RecursionError:
        raise UserError(f"{source} is nested too deeply") from None
    except (yaml.YAMLError, ValueError) as error:
        raise UserError(f"{source}: not valid YAML: {' '.join(str(error).split())}") from None
    count, stack = 0, [content]
    while stack:  # aliases of aliases make gigabytes of a few lines, or a list that holds itself
        value, count = stack.pop(), count + 1
        if count > MAX_VALUES:
            raise UserError(f"{source} holds more than {MAX_VALUES:,} values, or itself")
        if not isinstance(value, JSON_TYPES):
            kind = type(value).__name__
            raise UserError(f"{source} holds {str(value)!r:.60}, which YAML reads as a {kind}: quote it")
        stack.extend(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    return content


def _load(text: str) -> Any:
    try:
        return yaml.load(text, Loader=_FastLoader)
    except (yaml.YAMLError, ValueError):
        return yaml.load(text, Loader=_Loader)  # libyaml words mistakes in another way


class _Strict(yaml.constructor.SafeConstructor, yaml.resolver.Resolver):
    """YAML in which a duplicate key is an error, 1e-3 is a number, and the depth is bounded."""

    depth = 0

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                problem = f"the key {key!r:.60} is no text"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            if key in keys:
                problem = f"the key {key!r} appears twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            keys.add(key)
        return super().construct_mapping(node, deep)

    # Called as nodes are entered and left. Without a bound, libyaml's recursion would end the process.
    def descend_resolver(self, parent: Any, index: Any) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise RecursionError
        super().descend_resolver(parent, index)

    def ascend_resolver(self) -> None:
        self.depth -= 1
        super().ascend_resolver()


class _Loader(_Strict, yaml.SafeLoader):
    """The loader in Python, whose errors are shown."""


class _FastLoader(_Strict, CSafeLoader):
    """The loader of libyaml where PyYAML has it: ten times as fast."""


for _loader in (_Loader, _FastLoader):
    _loader.yaml_implicit_resolvers = copy.deepcopy(yaml.SafeLoader.yaml_implicit_resolvers)
    _loader.add_implicit_resolver(
        "tag:yaml.org,2002:float", re.compile(r"^[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
    )
