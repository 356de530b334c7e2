"""What a data set is: where its files are published, how they are read and what must come out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from math import prod
from pathlib import Path

from fedatlas.registry import lookup

_COMPRESSED = (".gz", ".bz2", ".xz")
_ARCHIVES = (".tar.gz", ".zip", ".mat", ".npz")


@dataclass(frozen=True)
class File:
    """One published file.

    `name` is its place under ``raw/<group>/`` and in a mirror, `urls` are its official addresses in the order in which
    they are tried. `bytes` and `checksum` (``algorithm:hex``) describe the file as published, `content` is the
    checksum of what a compressed file holds, which verifies a copy that is compressed differently. None: unknown.
    """

    name: str
    urls: tuple[str, ...] = ()
    bytes: int | None = None
    checksum: str | None = None
    content: str | None = None

    @property
    def packed(self) -> bool:
        """Whether it is one file, compressed."""
        return self.name.endswith(_COMPRESSED) and not self.name.endswith(_ARCHIVES)

    @property
    def variants(self) -> tuple[str, ...]:
        """The names under which the file may lie in a mirror: as published, plain, or compressed another way."""
        if self.name.endswith(_ARCHIVES):
            return (self.name,)
        plain = self.name.rpartition(".")[0] if self.packed else self.name
        return tuple(dict.fromkeys((self.name, plain, *(plain + suffix for suffix in _COMPRESSED))))

    def expected(self, name: str) -> tuple[int | None, str | None]:
        """Size of the variant `name`, and the checksum: of the file as published, else of its decompressed contents."""
        if name == self.name:
            return self.bytes, self.checksum
        return None, self.content if self.packed else self.checksum


@dataclass(frozen=True)
class Form:
    """Files that together hold the data set, and the module of `fedatlas.data.readers` that reads them.

    A non-empty `lossy` says what was lost against the official files.
    """

    reader: str
    files: tuple[File, ...] = ()
    options: Mapping = field(default_factory=dict)
    lossy: str = ""


@dataclass(frozen=True)
class Source:
    """A data set: one entry of the catalogue.

    `forms` lists the official form first, then what may stand in for it. `shape` is that of one sample: (features,)
    or (channels, height, width). `scale` is the largest raw value of an image: features are X / scale. `counts` are
    the training samples per class, where known. `citation` is a key of ``sources.bib``.
    """

    name: str
    title: str
    group: str
    page: str
    licence: str
    citation: str
    forms: tuple[Form, ...]
    classes: int
    rows: int
    shape: tuple[int, ...]
    test_rows: int = 0
    dtype: str = "uint8"
    sparse: bool = False
    scale: float = 1.0
    counts: tuple[int, ...] | None = None
    note: str = ""

    @property
    def embedded(self) -> bool:
        """Whether the data come with an installed package, so that nothing is ever fetched."""
        return not self.forms[0].files

    @property
    def features(self) -> int:
        return prod(self.shape)

    @property
    def bytes(self) -> int | None:
        """Size of the official files, None if one of them is unknown."""
        sizes = [file.bytes for file in self.forms[0].files]
        return None if None in sizes else sum(sizes)

    @property
    def unpacked_limit(self) -> int:
        """Bytes beyond which what an archive of images claims to hold cannot be this data set."""
        return 4 * (self.rows + self.test_rows) * self.features + (16 << 20)

    @property
    def bibtex(self) -> str:
        return bibliography()[self.citation]


REGISTRY: dict[str, Source] = {}


def register(source: Source) -> Source:
    REGISTRY[source.name] = source
    return source


def names() -> list[str]:
    """The names of all data sets, sorted."""
    return sorted(REGISTRY)


def info(name: str) -> Source:
    """The entry of a data set; UserError, with the nearest name, if there is none."""
    return lookup("data set", name, dict(sorted(REGISTRY.items())))


@cache
def bibliography() -> dict[str, str]:
    """BibTeX entries by key, from ``sources.bib``."""
    entries = Path(__file__).with_name("sources.bib").read_text(encoding="utf-8").strip().split("\n\n")
    return {entry[entry.index("{") + 1 : entry.index(",")]: entry for entry in entries}
