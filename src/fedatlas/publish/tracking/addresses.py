"""Addresses for MLflow runs: an SQLite database, or a server. Commands and logs show them, so they hold no secret."""

import ipaddress
import re
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError

ADVICE = (
    "give sqlite:///FILE, such as sqlite:///results/mlflow.db, or the address of an MLflow server, such as "
    "http://host:5000 (MLflow writes to a plain folder, and fedatlas to another database, only through a server)"
)
LOGIN = (
    "MLflow takes them from the environment variables MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or "
    "MLFLOW_TRACKING_TOKEN, or from the file ~/.mlflow/credentials"
)
SERVER = re.compile(
    r"https?://(?:[A-Za-z0-9_.-]+|\[(?P<ip>[0-9A-Fa-f:.]+)\])(?::(?P<port>[0-9]{1,5}))?(?:/[A-Za-z0-9_.~!$&'()*+,;=:%/-]*)?"
)
DATABASE = re.compile(
    r"sqlite:///(?!:memory:|file:|~|.*://|(?:.*/)?\.\.?\Z)(?P<path>[^?\x00-\x1f\x7f\ud800-\udfff]+(?<!/))"
)
MAX_LENGTH = 120  # characters of an address that a sentence repeats


def validate(uri: Any) -> None:
    """Raise UserError if no runs can be logged to an address, or if it holds a user's name or a password."""
    if not isinstance(uri, str):
        raise UserError(f"the address for MLflow runs is not text: {ADVICE}")
    if ("@" in uri and not uri.startswith("sqlite:///")) or re.match("https?:.*[?#]", uri):
        raise UserError(
            f"the address {redact(uri)} for MLflow runs holds a user name, a password or options, which every list of "
            f"processes and every log would show: leave them out; {LOGIN}"
        )
    if database_path(uri) is None and not _is_server(uri):
        raise UserError(f"{redact(uri)!r} is not an address for MLflow runs: {ADVICE}")


def _is_server(uri: str) -> bool:
    match = SERVER.fullmatch(uri)
    try:
        ipaddress.IPv6Address(match["ip"] or "::1" if match else "")
    except ValueError:
        return False
    return match is not None and 0 < int(match["port"] or 80) < 2**16


def database_path(uri: str) -> Path | None:
    """Return the path of an SQLite database, or None for the address of a server."""
    match = DATABASE.fullmatch(uri)
    return Path(match["path"]) if match else None


def redact(uri: str) -> str:
    """Return an address without parts that may be secret: a user's name, a password, options."""
    if DATABASE.fullmatch(uri) is None:
        uri = re.sub(r"^([A-Za-z0-9+.-]*://)?.*[@?#].*", r"\1...", uri, flags=re.DOTALL)
    text = "".join(letter if letter.isprintable() else "?" for letter in uri)
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 3] + "..."
