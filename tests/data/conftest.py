import gzip
import hashlib
import io
import tarfile
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fedatlas.data.catalogue import SOURCES, File, Form, Source
from fedatlas.data.sources import info
from fedatlas.data.store import gather


@pytest.fixture(autouse=True)
def away_from_the_users_data(monkeypatch, tmp_path, request):
    """No test sees the data directory or the mirrors of whoever runs it, unless it asks for them."""
    if request.path.name != "test_data_real.py":
        monkeypatch.delenv("FEDATLAS_DATA_MIRRORS", raising=False)
    monkeypatch.setenv("FEDATLAS_DATA", str(tmp_path / "nowhere"))


def fetch(name, root, mirrors=()):
    """Fetch the raw files of a data set, and return their paths."""
    return gather(info(name), root, mirrors)[1]


@pytest.fixture
def register(monkeypatch):
    """Register a data set for one test; anything not given makes a LIBSVM set of two rows and three features."""

    def make(*files, reader="libsvm", options=None, forms=None, **entry):
        files = [File(file) if isinstance(file, str) else file for file in files or ("toy",)]
        defaults = {
            "title": "Toy",
            "group": "toys",
            "page": "http://127.0.0.1/",
            "licence": "none",
            "citation": "lecun1998gradient",
            "classes": 2,
            "rows": 2,
            "shape": (3,),
            "dtype": "float64",
            "sparse": True,
        }
        options = {"labels": (-1, 1)} if reader == "libsvm" and options is None else options or {}
        forms = forms or (Form(reader, tuple(files), options),)
        source = Source("toy", forms=tuple(forms), **(defaults | entry))
        monkeypatch.setitem(SOURCES.builtin, "toy", (source, __name__))
        return source

    return make


def tar(members):
    """A tar.gz of bytes by name. It holds no time, so that it is the same each time."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(out.getvalue(), mtime=0)


def packed(members):
    """A zip of bytes by name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


TOY = b"-1 1:0.5 3:2\n1 2:-1e-3\n"


@pytest.fixture
def toy_text():
    return TOY


class Server:
    """An HTTP server on this machine that gives `files` by path and can be told to misbehave.

    `cut` lists, per answer, after how many bytes it breaks off; `status` lists codes to answer with first; `requests`
    records paths.
    """

    def __init__(self):
        self.files, self.cut, self.status, self.requests = {}, [], [], []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.requests.append(self.path)
                if outer.status:
                    return self.send_error(outer.status.pop(0))
                if (content := outer.files.get(self.path)) is None:
                    return self.send_error(404)
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                end = outer.cut.pop(0) if outer.cut else None
                self.wfile.write(content[:end])

            def do_HEAD(self):
                self.send_response(200 if self.path in outer.files else 404)
                self.end_headers()

            def log_message(self, *unused):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *unused: None  # a client that hangs up
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server():
    running = Server()
    yield running
    running.close()


@pytest.fixture
def put(tmp_path):
    """Write a file under the test's folder and return its path."""

    def write(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def root(tmp_path):
    """An empty data directory."""
    return tmp_path / "data"


@pytest.fixture
def official(register, server):
    """A toy whose official address is the server; returns the registered file."""

    def make(content, name="toy", checksum=True, **fields):
        file = File(
            name,
            (f"{server.url}/{name}",),
            len(content),
            f"sha256:{hashlib.sha256(content).hexdigest()}" if checksum else None,
            **fields,
        )
        server.files[f"/{name}"] = content
        register(file)
        return file

    return make


@pytest.fixture
def names_of_raw_files(root):
    """The names of the toy set's raw files, and of whatever else lies beside them."""
    return lambda: {path.name for path in (root / "raw/toys").iterdir()}
