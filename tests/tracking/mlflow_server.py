"""A real MLflow server."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

from fedatlas.publish.tracking.log import ENVIRONMENT, connect


def free_port():
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def serving(folder, port=None):
    """The address of an MLflow server with an SQLite database in a folder and several processes that answer."""
    port = port or free_port()
    database = f"sqlite:///{folder}/server.db"
    with connect(database):
        pass  # the tables are there before processes ask for them
    command = [sys.executable, "-m", "mlflow", "server", "--port", str(port), "--workers", "2"]
    command += ["--backend-store-uri", database, "--artifacts-destination", str(folder / "artifacts")]
    with open(folder / "server.log", "w") as log:
        process = subprocess.Popen(
            command, env=os.environ | ENVIRONMENT, stdout=log, stderr=log, start_new_session=True
        )
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(address, process)
        yield address
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(address, process):
    """Wait until a server answers."""
    for _ in range(600):
        assert process.poll() is None, f"{process.args} has ended"
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(f"{address}/health", timeout=5).close()
        time.sleep(0.1)
    raise AssertionError(f"{address} does not answer")
