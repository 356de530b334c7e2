"""Specifications of jobs: JSON documents, and the digests that Snakemake compares."""

import hashlib
import json
from pathlib import Path
from typing import Any

from fedatlas.data import sources


def sort_keys(value: Any) -> Any:
    """Return a specification whose keys are sorted. In others their order matters, as of the algorithms in a figure."""
    return json.loads(json.dumps(value, sort_keys=True))


def digest(value: Any) -> str:
    """Return a short hash of a specification."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


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
