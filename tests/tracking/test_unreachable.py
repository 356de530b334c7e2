"""Servers that do not answer as MLflow does, and servers that ask for a password."""

import base64
import json
import shutil
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from fedatlas.cli.main import main
from fedatlas.errors import UserError
from fedatlas.publish import tracking
from fedatlas.publish.tracking import connection
from tests.tracking.tiny import EXPERIMENT, LOGGED, experiment_facts

SECRET = "hunter2-and-more"


class Handler(BaseHTTPRequestHandler):
    """Answers /health, and every other path, by functions of the server."""

    protocol_version = "HTTP/1.0"

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.requests.append((self.path, self.headers.get("Authorization")))
        answer = self.server.health if self.path == "/health" else self.server.answer
        answer(self)

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
    """Start a server with an answer, and perhaps another one to /health; returns it."""
    monkeypatch.setattr(connection, "ANSWER_TIMEOUT", 1)
    monkeypatch.setattr(connection, "PATIENCE", 0)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "2")
    for name in ("USERNAME", "PASSWORD", "TOKEN"):
        monkeypatch.delenv(f"MLFLOW_TRACKING_{name}", raising=False)
    started = []

    def start(answer, health=None):
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        server.requests, server.answer, server.ended = [], answer, threading.Event()
        server.health = health or (lambda handler: handler.send(200, b"OK", "text/html"))
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


def silent(handler):
    handler.server.ended.wait(30)


def drips(handler):
    while not handler.server.ended.wait(0.2):
        handler.wfile.write(b"H")


def drops(handler):
    handler.connection.close()


HTML = says(200, b"<html><body>Log in\nhere</body></html>", "text/html")
ANSWERS = {
    "500": says(500, b"boom\nboom"),
    "503 as JSON": says(503, b'{"error_code": "TEMPORARILY_UNAVAILABLE", "message": "one\\ntwo"}'),
    "HTML": HTML,
    "HTML of 404": says(404, b"<html>\n" + b"x" * 5000, "text/html"),
    "a list": says(200, b"[]"),
    "a number": says(200, b"7"),
    "text": says(200, b'"text"'),
    "other JSON": says(200, b'{"experiments": 7}'),
    "other lists": says(200, b'{"experiments": [{"experiment_id": []}]}'),
    "garbage": says(200, b"\xff\xfe\x00" * 99),
    "nothing": says(200, b""),
    "dropped": drops,
    "never": silent,
}


def log(results, uri):
    return tracking.log(experiment_facts(EXPERIMENT), results, uri)


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("where", ["first", "later"])
def test_answers_that_are_none_of_mlflow(results, serve, answer, where):
    def later(handler):
        if handler.path.endswith("/experiments/search"):
            return handler.send(200, b'{"experiments": []}')
        return answer(handler)

    server = serve(answer if where == "first" else later)
    start = time.monotonic()
    with pytest.raises(UserError, match=r"127\.0\.0\.1") as error:
        log(results, server.uri)
    assert time.monotonic() - start < 15
    assert "\n" not in str(error.value) and len(str(error.value)) < 600


@pytest.mark.parametrize("health", [silent, drips, drops, says(500, b""), says(502, b"")])
def test_servers_that_do_not_say_that_they_are_there(results, serve, health):
    server = serve(HTML, health)
    start = time.monotonic()
    with pytest.raises(UserError, match="does not answer"):
        log(results, server.uri)
    assert time.monotonic() - start < 5


def test_a_job_goes_on_without_a_server_and_a_command_logs_later(mine, serve, capsys, tmp_path, empty, monkeypatch):
    """The job ends well, the receipt says what is pending, and `fedatlas track` logs it once."""
    monkeypatch.chdir(tmp_path)
    folder, receipt = Path("results/smoke/tiny"), Path("results/smoke/tiny/mlflow.json")
    shutil.copytree(mine, folder)
    experiment_facts(EXPERIMENT).write(folder / "about.json")
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


@pytest.mark.parametrize(
    ("refusal", "words"), [("login", "asks for a user's name and password"), ("damaged", "not a database")]
)
def test_a_job_ends_where_waiting_does_not_help(mine, serve, capsys, tmp_path, monkeypatch, refusal, words):
    clock = SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda _: pytest.fail("it waits"))
    monkeypatch.setattr(connection, "time", clock)
    experiment_facts(EXPERIMENT).write(mine / "about.json")
    (tmp_path / "mlflow.db").write_bytes(b"no database " * 1000)
    uri = serve(says(401, b"no")).uri if refusal == "login" else f"sqlite:///{tmp_path}/mlflow.db"
    receipt = tmp_path / "mlflow.json"
    assert main(["job", "track", str(receipt), uri, str(mine)]) == 2 and not receipt.exists()
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert words in line


@pytest.mark.parametrize("away", [0, 3, 100])
def test_pauses_grow_while_a_server_is_away(monkeypatch, capsys, away):
    pauses, calls = [], []
    monkeypatch.setattr(connection.time, "monotonic", lambda: sum(pauses))
    monkeypatch.setattr(connection.time, "sleep", pauses.append)

    def attempt():
        calls.append(1)
        if len(calls) <= away:
            raise connection.TrackingError("it restarts", passing=True)
        return "logged"

    if away < 100:
        assert connection.retry(attempt) == "logged" and pauses == [1, 2, 4][:away]
    else:
        with pytest.raises(connection.TrackingError, match="it restarts"):
            connection.retry(attempt)
        assert 540 < sum(pauses) <= 600 and pauses == sorted(pauses) and pauses[-1] == 60
        assert "it restarts; trying again in 1 s" in capsys.readouterr().out


def test_what_will_not_pass_is_not_tried_again(monkeypatch):
    monkeypatch.setattr(connection.time, "sleep", lambda _: pytest.fail("it waits"))

    def attempt():
        raise connection.TrackingError("no such user")

    with pytest.raises(connection.TrackingError, match="no such user"):
        connection.retry(attempt)


@pytest.mark.parametrize(
    "status, code, passing",
    [(500, "INTERNAL_ERROR", True), (503, "TEMPORARILY_UNAVAILABLE", True), (400, "INVALID_PARAMETER_VALUE", False)],
)
def test_which_answers_may_pass(results, serve, status, code, passing):
    server = serve(says(status, json.dumps({"error_code": code, "message": "no"}).encode()))
    with pytest.raises(connection.TrackingError) as error:
        log(results, server.uri)
    assert error.value.passing == passing


def test_a_server_that_is_not_there_may_come_back(results, monkeypatch):
    monkeypatch.setattr(connection, "PATIENCE", 0)
    with pytest.raises(connection.TrackingError, match="does not answer") as error:
        log(results, "http://127.0.0.1:9")
    assert error.value.passing


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
    with pytest.raises(UserError, match="asks for a user's name and password: MLflow takes them from the environment"):
        log(results, server.uri)
    for name, value in variables.items():
        monkeypatch.setenv(f"MLFLOW_TRACKING_{name}", value)
    with connection.connect(server.uri) as client:
        assert list(client.search_experiments()) == []
    assert {header for path, header in server.requests if path == "/health"} == {None}
    monkeypatch.setenv(f"MLFLOW_TRACKING_{list(variables)[-1]}", "wrong")
    with pytest.raises(UserError) as error:
        log(results, server.uri)
    assert SECRET not in str(error.value) + capsys.readouterr().out


def test_a_server_that_repeats_the_secret_is_not_quoted(results, serve, monkeypatch):
    def echoes(handler):
        handler.send(400, json.dumps({"error_code": "X", "message": handler.headers["Authorization"]}).encode())

    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", SECRET)
    with pytest.raises(UserError, match=r"Bearer \.\.\.") as error:
        log(results, serve(echoes).uri)
    assert SECRET not in str(error.value)
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", f"{SECRET}\n")  # of a file that ends with a new line
    with pytest.raises(UserError) as error:
        log(results, serve(echoes).uri)
    assert SECRET not in str(error.value)
