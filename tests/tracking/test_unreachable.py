"""Servers that do not answer as MLflow does, and servers that ask for a password."""

import base64
import json
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fedatlas.cli.main import main
from fedatlas.errors import UserError
from fedatlas.io.files import write_json
from fedatlas.publish import tracking
from fedatlas.publish.tracking.log import connect
from tests.tracking.tiny import EXPERIMENT, LOGGED, experiment_facts

SECRET = "hunter2-and-more"


class Handler(BaseHTTPRequestHandler):
    """Answers by a function of the server."""

    protocol_version = "HTTP/1.0"

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.requests.append((self.path, self.headers.get("Authorization")))
        self.server.answer(self)

    do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

    def send(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def serve(monkeypatch):
    """Start a server with an answer; returns it."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "2")
    for name in ("USERNAME", "PASSWORD", "TOKEN"):
        monkeypatch.delenv(f"MLFLOW_TRACKING_{name}", raising=False)
    started = []

    def start(answer):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.requests, server.answer, server.ended = [], answer, threading.Event()
        server.uri = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.ended.set()
        server.shutdown()
        server.server_close()


def says(status, body, kind="application/json"):
    return lambda handler: handler.send(status, body, kind)


def log(results, uri):
    return tracking.log(experiment_facts(EXPERIMENT), results, uri)


def test_a_job_goes_on_without_a_server_and_a_command_logs_later(mine, serve, capsys, tmp_path, empty, monkeypatch):
    """The job ends well, the receipt says what is pending, and `fedatlas track` logs it once."""
    monkeypatch.chdir(tmp_path)
    folder, receipt = Path("results/smoke/tiny"), Path("results/smoke/tiny/mlflow.json")
    shutil.copytree(mine, folder)
    write_json(folder / "about.json", experiment_facts(EXPERIMENT))
    server = serve(says(500, b"boom"))
    assert main(["job", "track", str(receipt), server.uri, str(folder)]) == 0
    assert "results/smoke/tiny is not in MLflow: MLflow cannot log to" in (text := capsys.readouterr().out)
    assert "`fedatlas track` logs it later" in text and "pending" in json.loads(receipt.read_text())[str(folder)]
    Path("config").mkdir()
    Path("config/config.yaml").write_text("mlflow_uri: " + (uri := f"sqlite:///{tmp_path}/mlflow.db"))
    shutil.copy(empty, tmp_path / "mlflow.db")
    assert main(["track"]) == 0 and f"{folder}: {LOGGED} runs logged, 0 unchanged" in capsys.readouterr().out
    assert json.loads(receipt.read_text())[str(folder)]["logged"] == LOGGED
    assert main(["track"]) == 0 and "no results wait for MLflow" in capsys.readouterr().out
    assert main(["track", "--all"]) == 0 and f"0 runs logged, {LOGGED} unchanged" in capsys.readouterr().out
    Path("config/config.yaml").write_text(f"mlflow_uri: {server.uri}")
    assert main(["track", "--all"]) == 2 and len(capsys.readouterr().err.strip().splitlines()) == 1
    assert uri


def test_a_job_ends_with_a_database_that_cannot_be_written(mine, capsys, tmp_path):
    write_json(mine / "about.json", experiment_facts(EXPERIMENT))
    (tmp_path / "mlflow.db").write_bytes(b"no database " * 1000)
    receipt = tmp_path / "mlflow.json"
    assert main(["job", "track", str(receipt), f"sqlite:///{tmp_path}/mlflow.db", str(mine)]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "not a database" in line and not receipt.exists()


@pytest.mark.parametrize(
    "variables, expected",
    [
        ({"USERNAME": "me", "PASSWORD": SECRET}, "Basic " + base64.b64encode(f"me:{SECRET}".encode()).decode()),
        ({"TOKEN": SECRET}, f"Bearer {SECRET}"),
    ],
)
def test_a_login_is_taken_from_the_environment(results, serve, monkeypatch, capsys, variables, expected):
    def guarded(handler):
        if handler.headers.get("Authorization") != expected:
            return handler.send(401, b"You are not authenticated.", "text/plain")
        return handler.send(200, json.dumps({"experiments": []}).encode())

    server = serve(guarded)
    with pytest.raises(tracking.TrackingError, match="401"):
        log(results, server.uri)
    for name, value in variables.items():
        monkeypatch.setenv(f"MLFLOW_TRACKING_{name}", value)
    with connect(server.uri) as client:
        assert list(client.search_experiments()) == []
    monkeypatch.setenv(f"MLFLOW_TRACKING_{list(variables)[-1]}", "wrong")
    with pytest.raises(UserError) as error:
        log(results, server.uri)
    assert SECRET not in str(error.value) + capsys.readouterr().out
