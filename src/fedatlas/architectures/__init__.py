"""Architectures of networks, built from specifications. Each is a dataclass of options with
``build(shape, outputs)`` -> torch module, shape being one sample's: (channels, height, width) or (features,)."""

import importlib

from fedatlas import registry
from fedatlas.registry import lookup

KINDS = {
    "linear": "fedatlas.architectures.dense:Linear",
    "mlp": "fedatlas.architectures.dense:MLP",
    "lenet": "fedatlas.architectures.lenet:LeNet",
    "cnn": "fedatlas.architectures.cnn:CNN",
    "resnet18": "fedatlas.architectures.resnet18:ResNet18",
}


def get(kind):
    """The class of an architecture. Raises UserError, with a guess, on an unknown one."""
    module, name = lookup("architecture", kind, KINDS).split(":")
    return getattr(importlib.import_module(module), name)


def module(kind):
    """Name of the module that defines an architecture, without importing it."""
    return lookup("architecture", kind, KINDS).split(":")[0]


def create(spec):
    """An architecture from its specification: its kind alone, or a mapping of ``kind`` and options."""
    kind = spec if isinstance(spec, str) else dict(spec).get("kind")
    return registry.build("architecture", {kind: get(kind)}, spec)
