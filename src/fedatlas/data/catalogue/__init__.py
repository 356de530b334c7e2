"""The catalogue of data sets: where their files are published, how they are read and what they contain.

A module here that defines a `Source` is found by itself.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fedatlas.data.dataset import Contents
from fedatlas.data.paths import BUNDLED
from fedatlas.registry.bibliography import entry
from fedatlas.registry.kinds import Family


@dataclass(frozen=True)
class File:
    """A published file. None stands for unknown.

    Args:
        name: Path of the file under ``raw/<group>/`` and in a mirror.
        urls: Official addresses, in the order in which they are tried.
        bytes: Size of the file as published.
        checksum: ``algorithm:hex`` of the file as published.
    """

    name: str
    urls: tuple[str, ...] = ()
    bytes: int | None = None
    checksum: str | None = None

    def find_mismatch(self, path: Path) -> str | None:
        """Return the difference between a file and the published one, as the end of a sentence, or None."""
        if self.bytes not in (None, size := path.stat().st_size):
            return f"has {size:,} bytes, not the {self.bytes:,} expected"
        digest = self.checksum and checksum(path, self.checksum.partition(":")[0])
        return None if digest == self.checksum else f"has the checksum {digest}, not the {self.checksum} expected"


@dataclass(frozen=True)
class Form:
    """Files that together are a data set, and how they are read.

    Args:
        reader: Name of a kind of `fedatlas.data.readers`.
        files: The files, in the order of the reader.
        options: Options of the reader.
        lossy: Difference from the official files; empty for these.
    """

    reader: str
    files: tuple[File, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    lossy: str = ""


@dataclass(frozen=True)
class Source(Contents):
    """A data set: an entry of the catalogue. For the fields that are not explained here see `Contents`.

    Args:
        name: Name of the data set.
        title: Title in reports.
        group: Folder of its raw files.
        page: Web address of its publisher.
        licence: Licence of the data.
        citation: Key of ``sources.bib``; empty for own data without one.
        forms: The official form, then its substitutes.
        note: Remark for readers of results.
        clients: Number of clients that own training rows, 0 if the data name none. The reader of such a data set
            writes ``owner``, int64 (rows,) in 0..clients-1.
    """

    name: str
    title: str
    group: str
    page: str
    licence: str
    citation: str
    forms: tuple[Form, ...]
    note: str = ""
    clients: int = field(default=0, repr=False)  # a promise about the arrays changes no data

    @property
    def embedded(self) -> bool:
        """Return whether the data come with an installed package, so that nothing is fetched."""
        return all((BUNDLED / self.group / file.name).is_file() for file in self.forms[0].files)

    @property
    def bytes(self) -> int | None:
        """Size of the official files in bytes, None if the size of one is unknown."""
        sizes = [file.bytes for file in self.forms[0].files]
        return None if None in sizes else sum(size for size in sizes if size)

    @property
    def bibtex(self) -> str:
        """The BibTeX entry of the citation; empty without one."""
        return str(entry(self.citation).raw) if self.citation else ""


SOURCES: Family[Source] = Family("data set", __name__, Source, records=True)


@dataclass(frozen=True, kw_only=True)
class CustomSource(Source):
    """Custom data whose files were read.

    Args:
        paths: Paths of the files.
        class_names: Names of the classes, in their order.
    """

    paths: tuple[str, ...]
    class_names: tuple[str, ...] = field(repr=False)


def checksum(path: Path, algorithm: str = "sha256") -> str:
    """Return ``algorithm:hex`` of the bytes of a file. algorithm: A name of hashlib."""
    with open(path, "rb") as stream:
        return f"{algorithm}:{hashlib.file_digest(stream, algorithm).hexdigest()}"
