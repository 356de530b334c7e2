"""Addresses for MLflow runs: what is accepted, and that no sentence repeats a secret."""

import pytest

from fedatlas.errors import UserError
from fedatlas.publish.tracking.connection import database_path, validate

SERVERS = [
    "http://host",
    "https://host.example.org/mlflow/",
    "http://127.0.0.1:5000",
    "http://[::1]:5000",
    "https://my-host_2:65535/a/b;c=d",
]
DATABASES = ["sqlite:///results/mlflow.db", "sqlite:////home/me@work/ä b.db", "sqlite:///a#b%20:c.db", "sqlite:///x"]
SECRET = [
    "http://me:hunter2@host:5000",
    "https://me:hunt/er2@host",
    "http://hunter2@host",
    "http://host:5000?token=hunter2",
    "http://host/#hunter2",
    "HTTPS://me:hunter2@host",
    "postgresql://me:hunter2@host/mlflow",
    "postgresql+psycopg2://me:a@hunter2@host/mlflow",
    "sqlite://me:hunter2@host/x",
    "me:hunter2@host",
    "ftp://me:hunter2@host\nx",
    ["http://me:hunter2@host"],
    {"http://me:hunter2@host": 1},
]
WRONG = [
    "", " ", None, 5, 0.5, True, [], ["sqlite:///x.db"], {}, b"sqlite:///x.db",
    "ftp://x", "file:///x", "results/mlruns", "mlruns", "databricks", "postgresql://host/name", "mysql://host/name",
    "sqlite:", "sqlite:/x", "sqlite://", "sqlite:///", "sqlite:///x/", "sqlite:///:memory:", "sqlite:///file:x?uri=true",
    "sqlite:///x?mode=ro", "sqlite:///~/x.db", "sqlite:///x\0", "sqlite:///x\n", "sqlite:///\ud800", "sqlite+pysqlite:///x",
    "sqlite:///..", "sqlite:///x/.", "http:", "http://", "http:///x", "http://:5000", "http:host",
    "http://host:x", "http://host:-1", "http://ho st", " http://host", "http://host\n", "HTTP://host",
    "sqlite:///http://host", "http://[::1",
    "http://host\\x", "http://hōst", "x" * 10_000, "http://host\r\nX: y", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("uri", SERVERS + DATABASES)
def test_addresses_that_are_accepted(uri):
    validate(uri)
    assert (database_path(uri) is None) == (uri in SERVERS)


@pytest.mark.parametrize("uri", SECRET, ids=repr)
def test_a_secret_is_refused_and_not_repeated(uri):
    with pytest.raises(UserError) as error:
        validate(uri)
    text = str(error.value)
    assert "hunter2" not in text and "\n" not in text
    assert "MLFLOW_TRACKING_PASSWORD" in text or not isinstance(uri, str)


@pytest.mark.parametrize("uri", WRONG, ids=lambda uri: ascii(uri)[:30])
def test_a_wrong_address_is_one_sentence(uri):
    with pytest.raises(UserError, match="give sqlite:///FILE") as error:
        validate(uri)
    assert "\n" not in str(error.value) and len(str(error.value)) < 600
    str(error.value).encode()
