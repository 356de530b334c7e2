"""Commands in forks of a process that has imported their libraries: a call costs a third of that of a new process.

A fork has its own working directory, environment and standard streams, and runs the code of its environment's
PYTHONPATH. A server imports the modules of this project that most calls need; a fork with other code forgets them.

Called as ``fork_server.py serve PROGRAM SOCKET``, this file is a server; as ``fork_server.py call SOCKET WORDS``, a
process that runs a command in a fork of a server, which a shell may call in place of the command.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIBRARIES = {
    "snakemake": "snakemake.cli snakemake.executors.local snakemake.report snakemake.report.html_reporter"
    " snakemake.assets snakemake.storage snakemake.profiles smart_open jsonschema platformdirs pandas scipy.special"
    " scipy.sparse numpy.random yaml psutil jinja2 filelock graphlib",
    "fedatlas": "numpy.random pandas pyarrow.parquet pyarrow.dataset pyarrow.pandas_compat pandas.io.formats.csvs yaml"
    " scipy.special scipy.sparse scipy.optimize matplotlib.figure matplotlib.pyplot matplotlib.ticker matplotlib.lines"
    " matplotlib.text matplotlib.backends.backend_agg matplotlib.backends.backend_svg matplotlib.backends.backend_pdf"
    " PIL.PngImagePlugin fontTools.ttLib seaborn scipy.stats sklearn.datasets mlflow.entities"
    " mlflow.store.tracking.sqlalchemy_store sqlalchemy.dialects.sqlite alembic.command alembic.config jinja2"
    " markupsafe",
}
MODULES = {
    "snakemake": "fedatlas.workflow.graph fedatlas.workflow.dependencies"
    " fedatlas.workflow.summary fedatlas.workflow.console fedatlas.workflow.launch"
    " snakemake_logger_plugin_fedatlas",
    "fedatlas": "fedatlas.cli.main fedatlas.workflow.jobs.figure fedatlas.workflow.jobs.claims"
    " fedatlas.workflow.jobs.report fedatlas.workflow.jobs.table fedatlas.workflow.jobs.track fedatlas.experiments.run",
}
CODE = str(Path(__file__).parents[2] / "src")
# of Snakemake's plugins, but for loggers, whose registry has fedatlas's own
REGISTRIES = ("executor", "report", "scheduler", "storage")
STREAMS = 3  # standard input, output and error


class ForkServer:
    """A process that runs commands of a program, snakemake or fedatlas, in forks of itself.

    Attributes:
        command: Words of a shell's command that runs the program.
    """

    def __init__(self, program):
        self.program = program
        self.folder = tempfile.TemporaryDirectory()
        self.socket = str(Path(self.folder.name, "socket"))
        self.command = [sys.executable, "-IS", __file__, "call", self.socket]
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, __file__, "serve", program, self.socket],
            env=os.environ | threads,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=tempfile.gettempdir(),
        )
        assert self.process.stdout.readline() == b"ready\n"

    def run(self, arguments, folder, environment, timeout, safe_path=False):
        """Run the program in a folder and return a CompletedProcess.

        Args:
            arguments: Words of the command line after the program.
            folder: The working directory.
            environment: All environment variables.
            timeout: In seconds.
            safe_path: Modules of the folder cannot be imported, as with ``python -P``.

        Raises:
            subprocess.TimeoutExpired: The call took more than ``timeout`` seconds; it was ended.
        """
        paths = [] if safe_path else [str(folder)]
        with open(os.devnull) as stdin, tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
            streams = [stdin.fileno(), stdout.fileno(), stderr.fileno()]
            returncode = request(self.socket, list(arguments), str(folder), environment, streams, paths, timeout)
            stdout.seek(0)
            stderr.seek(0)
            texts = stdout.read(), stderr.read()
        command = [self.program, *arguments]
        if returncode is None:
            raise subprocess.TimeoutExpired(command, timeout, *texts)
        return subprocess.CompletedProcess(command, returncode, *texts)

    def close(self):
        """End the server."""
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.folder.cleanup()


def request(address, arguments, folder, environment, streams, paths=(), timeout=None):
    """Ask a server for a call; return its exit status, or None if it was ended after ``timeout`` seconds."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        words = {
            "arguments": arguments, "folder": folder, "environment": dict(environment), "paths": list(paths),
            "timeout": timeout,
        }  # fmt: skip
        content = json.dumps(words).encode()
        socket.send_fds(connection, [len(content).to_bytes(8, "big")], streams)
        connection.sendall(content)
        with connection.makefile() as answer:
            return json.loads(answer.read())


def answer(program, connection):
    """Read a request, run it in a fork, and write the exit status."""
    length, streams, _, _ = socket.recv_fds(connection, 8, STREAMS)
    with connection.makefile("rb") as file:
        words = json.loads(file.read(int.from_bytes(length, "big")))
    timeout = words.pop("timeout")
    if (child := os.fork()) == 0:
        call(program, streams=streams, **words)
    connection.sendall(json.dumps(wait(child, timeout)).encode())


def call(program, arguments, folder, environment, paths, streams):
    """Become a process that was started as ``PROGRAM ARGUMENTS`` in a folder; does not return."""
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
    sys.stdin = open(0, closefd=False)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False, buffering=1)
    folders = [*filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.path[:0] = [*paths, *folders]
    if folders[:1] != [CODE]:
        for name in [name for name in sys.modules if "fedatlas" in name.partition(".")[0]]:
            del sys.modules[name]
    sys.argv, sys.executable = [program, *arguments], environment.get("FORKED_PYTHON", sys.executable)
    status = 1
    try:
        if program == "snakemake":
            from snakemake.cli import main

            main(arguments)
        else:
            from fedatlas.cli.main import command

            command()
        status = 0
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def wait(child, timeout):
    """Return the exit status of a child, or None if it was ended after ``timeout`` seconds."""
    deadline = time.monotonic() + timeout if timeout else None
    while deadline is None or time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG if deadline else 0)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def serve(program, address):
    """Answer requests, many at a time, until standard input is closed."""
    import importlib

    sys.path[:] = [path for path in sys.path if path != str(Path(__file__).parent)]
    for name in LIBRARIES[program].split():
        importlib.import_module(name)
    if program == "snakemake":
        for kind in REGISTRIES:  # each looks through all installed packages when it is first created
            module = importlib.import_module(f"snakemake_interface_{kind}_plugins.registry")
            getattr(module, f"{kind.capitalize()}PluginRegistry")()
    sys.path.insert(0, CODE)
    for name in MODULES[program].split():
        importlib.import_module(name)
    sys.path.remove(CODE)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        print("ready", flush=True)
        while sys.stdin not in select.select([sys.stdin, listener], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                answer(program, connection)
                os._exit(0)
            connection.close()
            while _reaped():
                pass


def _reaped():
    """Forget a child that has ended; return whether there was one."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0]
    except ChildProcessError:
        return 0


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(*sys.argv[2:])
    else:
        returncode = request(sys.argv[2], sys.argv[3:], os.getcwd(), os.environ, [0, 1, 2])
        sys.exit(returncode if returncode >= 0 else 128 - returncode)
