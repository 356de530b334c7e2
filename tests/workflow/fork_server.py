"""Snakemake in forks of one process that has imported it: a call costs a third of the time that ``python -m`` takes.

A fork has its own working directory, environment and standard streams, and imports the package from the folder that it
is called in. The server itself imports libraries alone, nothing of fedatlas.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIBRARIES = (
    "snakemake.cli", "snakemake.executors.local", "snakemake.report", "pandas", "scipy.sparse", "numpy.random", "yaml",
    "psutil", "jinja2", "filelock",
)  # fmt: skip


class ForkServer:
    """A process that runs Snakemake in forks of itself."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=tempfile.gettempdir(),
        )

    def run(self, arguments, folder, environment, timeout):
        """Run ``snakemake ARGUMENTS`` in a folder and return a CompletedProcess.

        Raises:
            subprocess.TimeoutExpired: The call took more than ``timeout`` seconds; it was ended.
        """
        with tempfile.TemporaryDirectory() as directory:
            streams = [str(Path(directory, name)) for name in ("stdout", "stderr")]
            request = [list(arguments), str(folder), environment, streams, timeout]
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            returncode = json.loads(self.process.stdout.readline())
            stdout, stderr = (Path(stream).read_text() for stream in streams)
        command = ["snakemake", *arguments]
        if returncode is None:
            raise subprocess.TimeoutExpired(command, timeout, stdout, stderr)
        return subprocess.CompletedProcess(command, returncode, stdout, stderr)

    def close(self):
        """End the server."""
        self.process.stdin.close()
        self.process.wait(timeout=10)


def call(arguments, folder, environment, streams):
    """Become a process that was started as ``python -m snakemake ARGUMENTS`` in a folder; does not return."""
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for target, path in enumerate(streams, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), target)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False, buffering=1)
    sys.path[:0] = [folder, *environment.get("PYTHONPATH", "").split(os.pathsep)]
    sys.argv = ["snakemake", *arguments]
    from snakemake.cli import main

    status = 1
    try:
        main(sys.argv[1:])
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def wait(child, timeout):
    """Return the exit status of a child, or None if it was ended after ``timeout`` seconds."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def serve():
    """Run calls from standard input, one line of JSON each, until it is closed."""
    import importlib

    sys.path[:] = [path for path in sys.path if path != str(Path(__file__).parent)]
    for name in LIBRARIES:
        importlib.import_module(name)
    assert "fedatlas" not in sys.modules
    for line in sys.stdin:
        arguments, folder, environment, streams, timeout = json.loads(line)
        if (child := os.fork()) == 0:
            call(arguments, folder, environment, streams)
        print(json.dumps(wait(child, timeout)), flush=True)


if __name__ == "__main__":
    serve()
