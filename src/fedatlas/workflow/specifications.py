"""Specifications of jobs: JSON texts and the digests that Snakemake compares."""

import hashlib
import json
from typing import Any, NamedTuple


class Specification(NamedTuple):
    """The text of a job's file, and the digest whose change makes its results again."""

    text: str
    digest: str


def encode(value: Any, ordered: bool = True) -> str:
    """Return a specification as JSON.

    Args:
        value: The specification in JSON types.
        ordered: Whether the order of keys matters, as that of the algorithms in a figure does.
    """
    return json.dumps(value, sort_keys=not ordered)


def digest(text: str) -> str:
    """Return a short hash of a specification."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
