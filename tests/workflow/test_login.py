"""The password of an MLflow server: jobs use it, and nothing that they leave behind or show repeats it."""

import base64
import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fedatlas.experiments.result_files import read
from tests.tracking.mlflow_server import serving
from tests.tracking.tiny import logged

SECRET = "hunter2-and-more"
HEADER = "Basic " + base64.b64encode(f"me:{SECRET}".encode()).decode()


class Gate(BaseHTTPRequestHandler):
    """Passes requests on to a server if they bear the password."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        allowed = self.headers.get("Authorization") == HEADER
        self.server.answers.append(allowed)
        self.server.bodies.append(body)
        status, answer = 401, b"You are not authenticated."
        if allowed:
            passed = http.client.HTTPConnection(self.server.behind, timeout=60)
            passed.request(self.command, self.path, body, {"Content-Type": self.headers.get("Content-Type", "")})
            reply = passed.getresponse()
            status, answer = reply.status, reply.read()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

    def log_message(self, *arguments):
        pass


@pytest.fixture
def gate(tmp_path):
    with serving(tmp_path) as address, ThreadingHTTPServer(("127.0.0.1", 0), Gate) as server:
        server.behind, server.answers, server.bodies = address.removeprefix("http://"), [], []
        server.uri = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def processes(commands, ended):
    """Collect the command lines of all processes."""
    while not ended.wait(0.02):
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                commands.add(path.read_bytes())
            except OSError:
                continue


@pytest.mark.slow
def test_a_password_is_used_and_nowhere_repeated(project, gate, monkeypatch):
    project.edit("config/config.yaml", "size: smoke", f"size: smoke\nmlflow_uri: {gate.uri}")
    for name in ("USERNAME", "PASSWORD", "TOKEN"):
        monkeypatch.delenv(f"MLFLOW_TRACKING_{name}", raising=False)
    project.snakemake()  # ends well, and says what is missing
    receipt = (project.folder / "results/mlflow.json").read_text()
    assert '"pending"' in receipt and "401" in receipt
    (log,) = (project.folder / "results/logs/track").rglob("*.log")
    assert "`fedatlas track` logs it later" in log.read_text() and "Traceback" not in log.read_text()
    assert gate.answers and not any(gate.answers)

    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "me")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", SECRET)
    for path in (project.folder / "results/smoke/tiny/runs/scaffold").glob("*.parquet"):
        path.unlink()  # so that a job logs while it runs
    commands, ended = set(), threading.Event()
    watch = threading.Thread(target=processes, args=(commands, ended))
    watch.start()
    try:
        done = project.snakemake("--verbose", "--printshellcmds", "--forcerun", "train")
    finally:
        ended.set()
        watch.join()
    assert '"pending"' not in (project.folder / "results/mlflow.json").read_text()
    assert any(gate.answers) and any(gate.uri.encode() in command for command in commands)
    _, reports, settings, _ = logged(f"sqlite:///{project.folder.parent}/server.db")
    table, _ = read(project.folder / "results/smoke/tiny/table.parquet")
    assert (len(reports), len(settings)) == (1, table["chosen"].sum())

    files = [path for path in project.folder.rglob("*") if path.is_file()]
    assert any(".snakemake/metadata" in str(path) for path in files)
    words = [SECRET.encode(), HEADER.removeprefix("Basic ").encode()]
    words += [base64.b64encode(SECRET.encode())]
    texts = {str(path): path.read_bytes() for path in files}
    texts |= {
        "commands": b"".join(commands),
        "output": (done.stdout + done.stderr).encode(),
        "sent": b"".join(gate.bodies),
    }
    assert [name for name, text in texts.items() if any(word in text for word in words)] == []
