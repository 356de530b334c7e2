"""Channels: what a message passes between a client and the server.

A module here that defines a named `Channel` is found by itself.
"""

from collections.abc import Mapping
from typing import Any

from fedatlas.errors import UserError
from fedatlas.federation.channels.base import Channel, Coded, Note, Rows
from fedatlas.registry.kinds import Family

__all__ = ["CHANNELS", "Channel", "Coded", "Note", "Rows", "directions", "modules"]

CHANNELS: Family[Channel] = Family("channel", __name__, Channel)
DIRECTIONS = ("up", "down")
IDENTITY = "identity"


def split(spec: Any) -> dict[str, Any]:
    """Return the specifications of the channels up and down.

    Args:
        spec: A kind, or a mapping with a kind and its options, which is the channel up; or a mapping with ``up``,
            ``down`` or both; None for the default.

    Raises:
        UserError: A mapping has neither a kind nor a direction.
    """
    if not isinstance(spec, Mapping) or "kind" in spec:
        return {"up": spec, "down": None}
    if not spec or not spec.keys() <= {*DIRECTIONS}:
        raise UserError(
            f"channel is {dict(spec)!r}; it must be a kind, a mapping with a kind and its options, or a mapping with "
            "up, down or both"
        )
    return {direction: spec.get(direction) for direction in DIRECTIONS}


def canonical(spec: Any) -> Any:
    """Return a specification without options and directions that are defaults; None for the default."""
    if isinstance(spec, Mapping) and "kind" not in spec:
        parts = {direction: canonical(part) for direction, part in spec.items()}
        return {direction: parts[direction] for direction in sorted(parts) if parts[direction]} or None
    channel = CHANNELS.canonical(spec)
    return None if channel == {"kind": IDENTITY} else channel


def directions(spec: Any) -> tuple[Channel, Channel]:
    """Return the channels up and down that a specification describes. Raises UserError if a value does not fit."""
    up, down = (CHANNELS.build(part, IDENTITY) for part in split(spec).values())
    return up, down


def modules(spec: Any) -> set[str]:
    """Return the full names of the modules that define the channels of a specification."""
    return {CHANNELS.module(part, IDENTITY) for part in split(spec).values()}
