"""The gallery that is committed with the project."""

from collections.abc import Sequence
from pathlib import Path

from fedatlas.report import gallery


def make(out: str, folders: Sequence[str]) -> None:
    """Make the entries of experiments and the page over all entries.

    out: path of the page; the entries lie in the folder beside it that has its name. folders: of results.
    """
    gallery.shown(folders, Path(out).with_suffix(""), Path(out))
