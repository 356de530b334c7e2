"""MLflow's user interface over the results."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

from fedatlas.errors import UserError
from fedatlas.publish.tracking import views
from fedatlas.publish.tracking.addresses import database_path, validate
from fedatlas.publish.tracking.connection import ENVIRONMENT, artifact_folder, connect, database_exists

PAGE = f"#/experiments?{views.TRAINING}"  # where experiments are listed


def serve_ui(uri: str, port: int = 5000) -> None:
    """Serve MLflow's user interface in the foreground until interrupted, and print its address and those of views.

    Args:
        uri: ``sqlite:///FILE``, or the address of a server, which is only printed.
        port: Port of the user interface.

    Raises:
        UserError: The database does not exist, the port is in use, or MLflow stops by itself.
    """
    validate(uri)
    path = database_path(uri)
    if path is None:
        print(f"MLflow: {uri.rstrip('/')}/{PAGE}")
        return
    if not database_exists(path):
        raise UserError(f"there is no {path} yet: run `fedatlas track --all` first")
    command = [sys.executable, "-m", "mlflow", "ui", "--workers", "1", "--port", str(port), "--backend-store-uri", uri]
    command += ["--artifacts-destination", str(artifact_folder(path))]
    if _is_in_use(port):
        raise UserError(f"port {port} is in use: choose another one with --port")
    handler = signal.signal(signal.SIGTERM, signal.default_int_handler)  # leave no server behind
    server = subprocess.Popen(command, env=os.environ | ENVIRONMENT)
    try:
        while server.poll() is None and not _is_in_use(port):
            time.sleep(0.2)
        if server.poll() is None:
            print("\n".join(["", *_addresses(f"http://127.0.0.1:{port}"), "Ctrl-C stops it.", ""]), flush=True)
        if server.wait():
            raise UserError(f"MLflow's user interface stopped with status {server.returncode}")
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, handler)
        server.terminate()
        server.wait()


def _addresses(server: str) -> Iterator[str]:
    """Yield lines with the addresses of the list of experiments, and of the summary by experiment and size."""
    yield f"MLflow: {server}/{PAGE}"
    with connect(server) as client:
        for experiment in client.search_experiments(order_by=["name"]):
            for key in sorted(experiment.tags):
                view = views.parse_key(key.removeprefix(views.TAG))
                if view and not view.curves:
                    yield f"  {experiment.name}, {view.size}: {server}/{view.link(experiment.experiment_id)}"


def _is_in_use(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
