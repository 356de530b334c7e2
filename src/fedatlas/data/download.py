"""Downloading a file over HTTP. An interrupted download continues where it stopped."""

import contextlib
import time
from pathlib import Path
from threading import Thread
from typing import IO, Any

_TRIES = 5
_FIRST_PAUSE = 1.0
_WINDOW = 30.0  # seconds in which _LEAST bytes must come, over all tries
_LEAST = 30_000
_CHUNK = 1 << 20


class Unavailable(Exception):
    """The URL did not give the file; the text says why."""


class Missing(Unavailable):
    """The server answers and has no such file."""


class Unreachable(Unavailable):
    """The server cannot be reached, is too slow, or fails again and again."""


def download(url: str, part: Path, limit: int, size: int | None, verified: bool, progress: bool = True) -> None:
    """Append to a file what it still lacks of an address.

    An interruption is followed by another try after a growing pause, from where the file ends. A server that cannot
    resume starts over. So does one whose file is another version, by ETag or Last-Modified, than the one whose
    beginning is kept; this version is noted beside the file (see `version_of`).

    part: path of the file, which may not exist yet. limit: bytes that the file may have where its size is not known.
    size: in bytes, if known. verified: whether a checksum will tell if parts of two versions were put together;
    otherwise only what is surely of one version is continued. progress: whether a bar is shown even where standard
    error is no terminal. Raises Unavailable, and keeps the file for the next attempt.
    """
    from http.client import HTTPException
    from ssl import SSLError
    from urllib.error import HTTPError, URLError

    failures, pause, pace = 0, _FIRST_PAUSE, _Pace()
    with open(part, "ab") as out:
        while True:
            before = out.tell()
            try:
                return _transfer(url, out, limit, size, verified, progress, pace)
            except HTTPError as error:
                reason = f"HTTP {error.code} {error.reason}"
                if error.code in (404, 410):
                    raise Missing(reason) from error
                if error.code == 416:
                    _empty(out)
                elif error.code not in (408, 429) and error.code < 500:
                    raise Unavailable(reason) from error
            except (HTTPException, ConnectionError, TimeoutError, SSLError, URLError) as error:
                reason = str(getattr(error, "reason", error)) or type(error).__name__
                if _hopeless(error):
                    raise Unreachable(reason) from error
            if out.tell() >= before + _CHUNK:
                failures, pause = 0, _FIRST_PAUSE
            failures += 1
            if failures == _TRIES:
                raise Unreachable(f"{reason}, {_TRIES} times")
            pace.count(0, reason)
            time.sleep(pause)
            pause *= 2


def version_of(part: Path) -> Path:
    """The note that says of which version of which address a file is the beginning."""
    return part.with_name(f"{part.name}.version")


def discard(part: Path) -> None:
    """Remove the beginning of a file, and its note."""
    for path in (part, version_of(part)):
        path.unlink(missing_ok=True)


def _transfer(
    url: str, out: IO[bytes], limit: int, size: int | None, verified: bool, progress: bool, pace: "_Pace"
) -> None:
    from urllib.request import Request

    from tqdm import tqdm

    note = version_of(Path(out.name))
    version = _noted(note, url)
    if out.tell() > (limit if size is None else size) or not (version or verified):
        _empty(out)
    start = out.tell()
    if start and start == size and verified:
        return
    headers = {"User-Agent": "fedatlas", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
        if version:
            headers["If-Range"] = version
    with _answer(Request(url, headers=headers), pace.left) as response:
        found = _version(response.headers)
        if start and not (response.headers.get("Content-Range") or "").startswith(f"bytes {start}-"):
            _empty(out)
            start = 0
        elif start and version and found != version:  # it gives a range of another file all the same
            _empty(out)
            raise ConnectionError("the file changed while it was fetched")
        if not start:
            note.unlink(missing_ok=True)
            if found:
                note.write_text(f"{url}\n{found}\n", encoding="utf-8")
        length = response.headers.get("Content-Length")
        total = start + int(length) if length and length.isdecimal() and length.isascii() else None
        if size is not None and total is not None and size != total:
            raise Unavailable(f"it offers {total:,} bytes, not the {size:,} expected")
        if size is None and total is not None and total > limit:
            raise Unavailable(f"it offers {total:,} bytes, more than the {limit:,} that this data set can need")
        bound = total if total is not None else limit if size is None else size
        label = url.rsplit("/", 1)[-1]
        quiet = None if progress else True  # None: quiet unless a person watches
        shown = size if total is None else total
        with tqdm(total=shown, initial=start, unit="B", unit_scale=True, desc=label, disable=quiet, leave=False) as bar:
            while chunk := response.read1(_CHUNK):
                if out.tell() + len(chunk) > bound:
                    _empty(out)
                    raise Unavailable(f"it gives more than the {bound:,} bytes expected")
                out.write(chunk)
                bar.update(len(chunk))
                pace.count(len(chunk), "it is slow")
        if shown is not None and out.tell() < shown:
            raise ConnectionError(f"it broke off after {out.tell():,} of {shown:,} bytes")


def _answer(request: Any, seconds: float) -> Any:
    """The answer to a request, once its headers have come.

    They are waited for on a thread: urllib's timeout is that of each read, and a server may send byte after byte.
    """
    from urllib.request import urlopen

    found: list[Any] = []

    def ask() -> None:
        try:
            found.append(urlopen(request, timeout=seconds))
        except BaseException as error:
            found.append(error)

    thread = Thread(target=ask, daemon=True)
    thread.start()
    thread.join(seconds)
    if not found:
        raise TimeoutError(f"no answer within {seconds:.0f} seconds")
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


class _Pace:
    """Counts the bytes that come, and gives a server up that is too slow."""

    def __init__(self) -> None:
        self.began, self.bytes = time.monotonic(), 0

    @property
    def left(self) -> float:
        """Seconds that are left of the window, at least one."""
        return max(1.0, self.began + _WINDOW - time.monotonic())

    def count(self, more: int, reason: str) -> None:
        """Count bytes. Raises Unreachable, with the reason, if a window has ended in which too few came."""
        self.bytes += more
        passed = time.monotonic() - self.began
        if passed < _WINDOW:
            return
        if self.bytes < _LEAST:
            raise Unreachable(f"{reason}: {self.bytes:,} bytes in {passed:.0f} seconds")
        self.began, self.bytes = time.monotonic(), 0


def _version(headers: Any) -> str:
    """What tells versions of a file apart: a strong ETag, or else the time of the last change; empty without either."""
    etag = headers.get("ETag") or ""
    found = etag if etag.startswith('"') else headers.get("Last-Modified") or ""
    return found if found.isprintable() and found.isascii() else ""


def _noted(note: Path, url: str) -> str:
    """The version of which a file is the beginning, if it was fetched from this address; else empty."""
    with contextlib.suppress(OSError, ValueError):
        address, _, version = note.read_text(encoding="utf-8").partition("\n")
        return version.removesuffix("\n") if address == url and version.endswith("\n") else ""
    return ""


def _empty(out: IO[bytes]) -> None:
    out.seek(0)
    out.truncate()


def _hopeless(error: Exception) -> bool:
    """Whether another try within seconds cannot help: there is no such host, or the certificate or URL is bad."""
    from http.client import InvalidURL
    from socket import gaierror
    from ssl import SSLCertVerificationError

    return isinstance(error, InvalidURL) or isinstance(
        getattr(error, "reason", None), (gaierror, SSLCertVerificationError)
    )
