"""What a data set is: where its files are published, how they are read and what must come out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fedatlas.data.dataset import Contents
from fedatlas.data.readers import READERS
from fedatlas.data.readers.base import Reader
from fedatlas.registry.bibliography import entry

_COMPRESSED = (".gz", ".bz2", ".xz")
_ARCHIVES = (".tar.gz", ".zip", ".mat", ".npz")


@dataclass(frozen=True)
class File:
    """A published file.

    name: its place under ``raw/<group>/`` and in a mirror. urls: its official addresses, in the order in which they are
    tried. bytes, checksum: size and ``algorithm:hex`` of the file as published. content: checksum of what a compressed
    file holds, which verifies a copy that is compressed in another way. None: unknown. pinned: when this project took
    the checksum from the published file; empty where publishers or independent projects name it.
    """

    name: str
    urls: tuple[str, ...] = ()
    bytes: int | None = None
    checksum: str | None = None
    content: str | None = None
    pinned: str = field(default="", repr=False)  # who vouches for a file changes no data

    @property
    def verified(self) -> str:
        """What a fetched file is compared with, for people."""
        if self.checksum is None:
            return "no checksum is known: rows, features and classes are checked"
        return self.checksum + (f", taken by this project in {self.pinned}" if self.pinned else "")

    @property
    def packed(self) -> bool:
        """Whether it is one compressed file, and not an archive."""
        return self.name.endswith(_COMPRESSED) and not self.name.endswith(_ARCHIVES)

    @property
    def variants(self) -> tuple[str, ...]:
        """The names that the file may have in a mirror: as published, plain, or compressed in another way."""
        if self.name.endswith(_ARCHIVES):
            return (self.name,)
        plain = self.name.rpartition(".")[0] if self.packed else self.name
        return tuple(dict.fromkeys((self.name, plain, *(plain + suffix for suffix in _COMPRESSED))))

    def expected(self, name: str) -> tuple[int | None, str | None]:
        """Size and checksum of a variant of the file; the checksum of another variant is that of its contents."""
        if name == self.name:
            return self.bytes, self.checksum
        return None, self.content if self.packed else self.checksum


@dataclass(frozen=True)
class Form:
    """Files that together hold a data set, and how they are read.

    reader, options: a kind of `fedatlas.data.readers`, and its options. lossy: what was lost against the official
    files, empty for these. Raises UserError if there is no such reader, or an option does not fit.
    """

    reader: str
    files: tuple[File, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    lossy: str = ""

    def __post_init__(self) -> None:
        self.create_reader()

    def create_reader(self) -> Reader:
        """The reader with its options."""
        return READERS.build({"kind": self.reader, **self.options})


@dataclass(frozen=True)
class Source(Contents):
    """A data set: an entry of the catalogue.

    group: folder of its raw files. page: web address of who publishes it. citation: a key of ``sources.bib``. forms:
    the official form, then what may stand in for it. note: what a reader of results should know. clients: that own the
    training rows, 0 where the data name none; the reader then writes ``owner``, int64 (rows,) in 0..clients-1. The
    other fields are explained at `Contents`.
    """

    name: str
    title: str
    group: str
    page: str
    licence: str
    citation: str
    forms: tuple[Form, ...]
    note: str = ""
    clients: int = field(default=0, repr=False)  # a promise about what a reader writes changes no data

    @property
    def embedded(self) -> bool:
        """Whether the data come with an installed package, so that nothing is fetched."""
        return not self.forms[0].files

    @property
    def bytes(self) -> int | None:
        """Size of the official files, None if one of them is unknown."""
        sizes = [file.bytes for file in self.forms[0].files]
        return None if None in sizes else sum(size for size in sizes if size)

    @property
    def bibtex(self) -> str:
        """The BibTeX entry of the citation."""
        return entry(self.citation).text
