"""Specifications of jobs: JSON documents, the digests that Snakemake compares, and the paths of inputs in them."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.data import sources


def encode(value: Any, ordered: bool = True) -> str:
    """Return a specification as JSON.

    Args:
        value: The specification.
        ordered: Whether the order of keys matters, as that of the algorithms in a figure does; else they are sorted.
    """
    return json.dumps(value, sort_keys=not ordered)


def sort_keys(value: Any) -> Any:
    """Return a specification whose keys are sorted, for a part of a document in which the order of others matters."""
    return json.loads(encode(value, ordered=False))


def digest(value: Any, ordered: bool = True) -> str:
    """Return a short hash of a specification. Arguments are those of `encode`."""
    return hashlib.sha256(encode(value, ordered).encode()).hexdigest()[:16]


def find_inputs(value: Any, files: Sequence[str]) -> Any:
    """Replace the paths of results in a specification by those of the copies that a job finds of a storage.

    Args:
        value: The specification, which names results by their places in the study.
        files: Inputs of the job, which lie there, or at a path that ends with their place.
    """
    if isinstance(value, dict):
        return {key: find_inputs(item, files) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [find_inputs(item, files) for item in value]
    if isinstance(value, str) and value.endswith((".npz", ".parquet")):
        return next((path for path in files if path.endswith(f"/{value}")), value)
    return value


def name_folder(origin: dict[str, Any], folder: str) -> dict[str, Any]:
    """Return what tells the output of a partition or an optimum from that of another study in Snakemake's cache.

    The cache's key holds the specification and the code, but not the content of the data. So where the files at hand
    decide which form of a data set is prepared, it must hold the folder of the data.

    Args:
        origin: Specification of a partition or an optimum.
        folder: Folder of the data.
    """
    data = origin.get("problem", origin).get("data")
    if data is None or len(getattr(sources.info(data), "forms", ())) < 2:
        return {}
    return {"data_folder": str(Path(folder).resolve())}
