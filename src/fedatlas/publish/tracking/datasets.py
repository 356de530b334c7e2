"""Data sets as MLflow knows them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mlflow.entities import Dataset

LONGEST_SOURCE = 65_000  # characters that MLflow keeps


def dataset(name: str, about: Mapping[str, Any]) -> Dataset:
    """An MLflow Dataset without its data. about: the data set's provenance."""
    from mlflow.entities import Dataset

    files = about.get("files", [])
    digest = "".join(file["sha256"] for file in files)
    if len(files) != 1:  # of one file, the digest is its checksum, for who wants to compare
        digest = hashlib.sha256((digest or json.dumps(about, sort_keys=True)).encode()).hexdigest()
    urls = [file["urls"][0] for file in files if file.get("urls")]
    source = {"url": urls[0] if urls else about.get("page", ""), "files": files}
    if len(json.dumps(source)) > LONGEST_SOURCE:
        source = {"url": source["url"]}
    profile = {"num_rows": about.get("rows"), "classes": about.get("classes"), "licence": about.get("licence")}
    return Dataset(name, digest[:16], "http", json.dumps(source), profile=json.dumps(profile))
