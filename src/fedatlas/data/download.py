"""Downloading a file over HTTP. An interrupted download continues where it stopped."""

import time
from pathlib import Path
from typing import IO

_TRIES = 5
_FIRST_PAUSE = 1.0
_TIMEOUT = 30
_CHUNK = 1 << 20


class Unavailable(Exception):
    """The URL did not give the file; the text says why."""


class Missing(Unavailable):
    """The server answers and has no such file."""


class Unreachable(Unavailable):
    """The server cannot be reached, or fails again and again."""


def download(url: str, part: Path, size: int | None = None, progress: bool = True) -> None:
    """Append to a file what it still lacks of an address.

    An interruption is followed by another try after a growing pause, from where the file ends; a server that cannot
    resume starts over. part: path of the file, which may not exist yet. size: in bytes, if known. progress: whether a
    bar is shown even where standard error is no terminal. Raises Unavailable, and keeps the file for the next attempt.
    """
    from http.client import HTTPException
    from ssl import SSLError
    from urllib.error import HTTPError, URLError

    failures, pause = 0, _FIRST_PAUSE
    with open(part, "ab") as out:
        while True:
            before = out.tell()
            try:
                return _transfer(url, out, size, progress)
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
            time.sleep(pause)
            pause *= 2


def _transfer(url: str, out: IO[bytes], size: int | None, progress: bool) -> None:
    from urllib.request import Request, urlopen

    from tqdm import tqdm

    if size is not None and out.tell() > size:
        _empty(out)
    start = out.tell()
    if start and start == size:
        return
    headers = {"User-Agent": "fedatlas", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    with urlopen(Request(url, headers=headers), timeout=_TIMEOUT) as response:
        if start and not (response.headers.get("Content-Range") or "").startswith(f"bytes {start}-"):
            _empty(out)
            start = 0
        length = response.headers.get("Content-Length")
        total = start + int(length) if length and length.isdigit() else None
        if size is not None and total is not None and size != total:
            raise Unavailable(f"it offers {total:,} bytes, not the {size:,} expected")
        limit = size if total is None else total
        label = url.rsplit("/", 1)[-1]
        quiet = None if progress else True  # None: quiet unless a person watches
        with tqdm(total=limit, initial=start, unit="B", unit_scale=True, desc=label, disable=quiet, leave=False) as bar:
            while chunk := response.read(_CHUNK):
                if limit is not None and out.tell() + len(chunk) > limit:
                    raise Unavailable(f"it gives more than the {limit:,} bytes expected")
                out.write(chunk)
                bar.update(len(chunk))
        if limit is not None and out.tell() < limit:
            raise ConnectionError(f"it broke off after {out.tell():,} of {limit:,} bytes")


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
