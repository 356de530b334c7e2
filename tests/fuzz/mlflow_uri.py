"""Addresses for MLflow runs."""

import urllib.request
from http.client import InvalidURL
from pathlib import Path

from hypothesis import strategies as st
from sqlalchemy.engine import make_url

from fedatlas import UserError
from fedatlas.publish.tracking.connection import database_exists, database_path, validate
from tests.fuzz.targets import Target, mutated

SEEDS = [
    b"sqlite:///results/mlflow.db", b"sqlite:////tmp/a b.db", b"http://host:5000", b"https://[::1]:5000/mlflow",
    b"http://me:hunter2@host", b"postgresql://me:hunter2@host/x", b"databricks", b"file:///x", b"http://host?t=hunter2",
]  # fmt: skip
SECRET = "hunter2"


def _run(content: bytes, folder: Path) -> None:
    uri = content.decode("utf-8", "surrogateescape")
    try:
        validate(uri)
    except UserError as error:
        sentence = str(error)
        sentence.encode()
        assert "\n" not in sentence and len(sentence) < 1000
        if f":{SECRET}@" in uri or f"={SECRET}" in uri.partition("?")[2]:
            assert SECRET not in sentence
        raise
    path = database_path(uri)
    if path is None:
        assert "@" not in uri and "?" not in uri
        try:
            urllib.request.Request(f"{uri}/health")
        except (ValueError, InvalidURL) as error:
            raise AssertionError(f"{uri!r} was accepted") from error
    else:
        assert make_url(uri).database == str(path) or Path(make_url(uri).database or "") == path
        database_exists(folder / path if not path.is_absolute() else path)


MLFLOW_URI = Target(
    "mlflow-uri", mutated(SEEDS) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "replace")), _run
)
