"""Specifications of jobs: JSON texts, the digests that Snakemake compares, and the paths of a job's inputs in them."""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedatlas.data import sources

RESULT_FILE = re.compile(r'"(?:[^"\\]|\\.)*\.(?:npz|parquet)"')


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


def find_inputs(text: str, files: Sequence[str]) -> str:
    """Replace the paths of results in a specification by those of the copies that a job finds of a storage.

    Args:
        text: The specification, which names results by their places in the study.
        files: Inputs of the job, which lie there, or at a path that ends with their place.
    """

    def find(match: re.Match[str]) -> str:
        name = json.loads(match[0])
        return json.dumps(next((path for path in files if path.endswith(f"/{name}")), name))

    return RESULT_FILE.sub(find, text) if files else text


def name_folder(text: str, folder: str) -> str:
    """Return what a job reads whose output studies share in Snakemake's cache.

    The cache's key holds this text and the code, but not the content of the data. So where the files at hand decide
    which form of a data set is prepared, the text names the folder of the data.

    Args:
        text: Specification of a partition or an optimum.
        folder: Folder of the data.
    """
    origin = json.loads(text)
    data = origin.get("problem", origin).get("data")
    if data is None or len(getattr(sources.info(data), "forms", ())) < 2:
        return text
    return f'{{"data_folder": {encode(str(Path(folder).resolve()))}, {text[1:]}'
