"""Downloads over HTTP. An interrupted download continues where it stopped."""

import contextlib
import time
from pathlib import Path
from threading import Thread
from typing import IO, Any

_TRIES = 5
_FIRST_PAUSE = 1.0
_WINDOW = 30.0  # seconds in which _LEAST bytes must arrive, over all tries
_LEAST = 30_000
_CHUNK = 1 << 20
_HEADERS = {"User-Agent": "fedatlas", "Accept-Encoding": "identity"}
_ANSWER = 10.0  # seconds in which a server must answer whether it has a file


class Unavailable(Exception):
    """The URL did not give the file; the text says why."""


class Missing(Unavailable):
    """The server answers and has no such file."""


class Unreachable(Unavailable):
    """The server cannot be reached, is too slow, or fails again and again."""


def download(url: str, part: Path, limit: int, size: int | None, verified: bool, progress: bool = True) -> None:
    """Append the missing rest of an address to a file.

    After an interruption the download is tried again after a growing pause, from the end of the file. A server that
    cannot resume starts over. So does a server whose file is another version, by ETag or Last-Modified, than the one of
    the beginning; this version is noted beside the file (see `version_path`).

    Args:
        url: The address.
        part: Path of the file, which may not exist yet.
        limit: Number of bytes that the file may have if its size is unknown.
        size: Size in bytes, None if unknown.
        verified: Whether a checksum will reject a file of parts of two versions; otherwise only a beginning that is
            surely of the same version is continued.
        progress: Whether to show a bar even if standard error is no terminal.

    Raises:
        Unavailable: If the address does not give the file; the beginning stays for the next attempt.
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
                if _is_final(error):
                    raise Unreachable(reason) from error
            if out.tell() >= before + _CHUNK:
                failures, pause = 0, _FIRST_PAUSE
            failures += 1
            if failures == _TRIES:
                raise Unreachable(f"{reason}, {_TRIES} times")
            pace.count(0, reason)
            time.sleep(pause)
            pause *= 2


def ask(url: str, limit: int, size: int | None) -> None:
    """Ask an address whether it has a file, of which nothing but the head is read.

    Args:
        url: The address.
        limit: Number of bytes that the file may have if its size is unknown.
        size: Size in bytes, None if unknown.

    Raises:
        Unavailable: It has no such file, or one of another size, or cannot be reached.
    """
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import Request

    try:
        with _open(Request(url, headers=_HEADERS), _ANSWER) as response:
            _require_length(_length(response), limit, size)
    except HTTPError as error:
        kind = Missing if error.code in (404, 410) else Unavailable
        raise kind(f"HTTP {error.code} {error.reason}") from error
    except (HTTPException, OSError) as error:
        raise Unreachable(str(getattr(error, "reason", error)) or type(error).__name__) from error


def version_path(part: Path) -> Path:
    """Return the path of the note of the address and version of which a file is the beginning."""
    return part.with_name(f"{part.name}.version")


def discard(part: Path) -> None:
    """Remove the beginning of a file and its note."""
    for path in (part, version_path(part)):
        path.unlink(missing_ok=True)


def _transfer(
    url: str, out: IO[bytes], limit: int, size: int | None, verified: bool, progress: bool, pace: "_Pace"
) -> None:
    from urllib.request import Request

    from tqdm import tqdm

    note = version_path(Path(out.name))
    version = _load_version(note, url)
    if out.tell() > (limit if size is None else size) or not (version or verified):
        _empty(out)
    start = out.tell()
    if start and start == size and verified:
        return
    headers = dict(_HEADERS)
    if start:
        headers["Range"] = f"bytes={start}-"
        if version:
            headers["If-Range"] = version
    with _open(Request(url, headers=headers), pace.remaining) as response:
        current = _version(response.headers)
        if start and not (response.headers.get("Content-Range") or "").startswith(f"bytes {start}-"):
            _empty(out)
            start = 0
        elif start and version and current != version:  # the server ignores If-Range
            _empty(out)
            raise ConnectionError("the file changed while it was fetched")
        if not start:
            note.unlink(missing_ok=True)
            if current:
                note.write_text(f"{url}\n{current}\n", encoding="utf-8")
        length = _length(response)
        total = None if length is None else start + length
        _require_length(total, limit, size)
        bound = total if total is not None else limit if size is None else size
        label = url.rsplit("/", 1)[-1]
        disable = None if progress else True  # None: no bar unless standard error is a terminal
        complete = size if total is None else total
        with tqdm(
            total=complete, initial=start, unit="B", unit_scale=True, desc=label, disable=disable, leave=False
        ) as bar:
            while chunk := response.read1(_CHUNK):
                if out.tell() + len(chunk) > bound:
                    _empty(out)
                    raise Unavailable(f"it gives more than the {bound:,} bytes expected")
                out.write(chunk)
                bar.update(len(chunk))
                pace.count(len(chunk), "it is slow")
        if complete is not None and out.tell() < complete:
            raise ConnectionError(f"it broke off after {out.tell():,} of {complete:,} bytes")


def _length(response: Any) -> int | None:
    """Return the number of bytes that a server is about to send, or None where it does not say."""
    length = response.headers.get("Content-Length")
    return int(length) if length and length.isdecimal() and length.isascii() else None


def _require_length(total: int | None, limit: int, size: int | None) -> None:
    """Raise Unavailable if a file has not the size that is expected, or more bytes than it may have."""
    if total is None:
        return
    if size is not None and size != total:
        raise Unavailable(f"it offers {total:,} bytes, not the {size:,} expected")
    if size is None and total > limit:
        raise Unavailable(f"it offers {total:,} bytes, more than the {limit:,} that this data set can need")


def _open(request: Any, seconds: float) -> Any:
    """Return the response to a request after its headers. Raises TimeoutError if they take too many seconds.

    A thread waits for them: urllib's timeout is that of each read, and a server may send byte after byte.
    """
    from urllib.request import urlopen

    responses: list[Any] = []

    def send() -> None:
        try:
            responses.append(urlopen(request, timeout=seconds))
        except BaseException as error:
            responses.append(error)

    thread = Thread(target=send, daemon=True)
    thread.start()
    thread.join(seconds)
    if not responses:
        raise TimeoutError(f"no answer within {seconds:.0f} seconds")
    if isinstance(responses[0], BaseException):
        raise responses[0]
    return responses[0]


class _Pace:
    """A count of the bytes that arrive, which ends the download from a server that is too slow."""

    def __init__(self) -> None:
        self.start, self.bytes = time.monotonic(), 0

    @property
    def remaining(self) -> float:
        """Remaining seconds of the window, at least one."""
        return max(1.0, self.start + _WINDOW - time.monotonic())

    def count(self, size: int, reason: str) -> None:
        """Count bytes. Raises Unreachable, with the reason, if a window has ended in which too few arrived."""
        self.bytes += size
        seconds = time.monotonic() - self.start
        if seconds < _WINDOW:
            return
        if self.bytes < _LEAST:
            raise Unreachable(f"{reason}: {self.bytes:,} bytes in {seconds:.0f} seconds")
        self.start, self.bytes = time.monotonic(), 0


def _version(headers: Any) -> str:
    """Return the version of a file: a strong ETag, or else the time of the last change; empty without either."""
    etag = headers.get("ETag") or ""
    version: str = etag if etag.startswith('"') else headers.get("Last-Modified") or ""
    return version if version.isprintable() and version.isascii() else ""


def _load_version(note: Path, url: str) -> str:
    """Return the version of which a file is the beginning; empty if it was fetched from another address."""
    with contextlib.suppress(OSError, ValueError):
        address, _, version = note.read_text(encoding="utf-8").partition("\n")
        return version.removesuffix("\n") if address == url and version.endswith("\n") else ""
    return ""


def _empty(out: IO[bytes]) -> None:
    out.seek(0)
    out.truncate()


def _is_final(error: Exception) -> bool:
    """Return whether another try cannot help: there is no such host, or the certificate or URL is bad."""
    from http.client import InvalidURL
    from socket import gaierror
    from ssl import SSLCertVerificationError

    return isinstance(error, InvalidURL) or isinstance(
        getattr(error, "reason", None), (gaierror, SSLCertVerificationError)
    )
