"""Archives of plays: a client for each speaking role, a sample for each character that follows its predecessors."""

import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedatlas.data.dataset import Contents
from fedatlas.data.readers import Reader, Writer
from fedatlas.registry.options import option

ALPHABET = " abcdefghijklmnopqrstuvwxyz.,;:!?'-"  # the characters that are kept; their places are the classes
TRAIN_SHARE = 0.8  # of a role's text, from its beginning, as in LEAF

_NAME = r"(?:(?:and|of|the|de|a) )*[A-Z][A-Za-z'.-]*"
_HEADING = re.compile(rf"{_NAME}(?: {_NAME}){{0,4}}")  # a speaker, alone on a line; verse has small letters or a comma
_SCENE = re.compile(r"(?:ACT|SCENE|EPILOGUE|PROLOGUE|THE END)\b", re.IGNORECASE)
_DIRECTION = re.compile(r"\[[^\]]*(?:\]|\Z)")  # stage directions
_NUMBER = {character: place for place, character in enumerate(ALPHABET)}


@dataclass(frozen=True, kw_only=True)
class Plays(Reader):
    """A zip of plays, a text each, in which the speaker's name stands alone on a line before the speech.

    A client is a role of a play, as in LEAF (Caldas et al. 2018): its text is that of all its speeches. A sample is the
    ``length`` characters before a character, each one-hot, and its label is that character. Capitals become small
    letters; characters that are neither letters nor common punctuation are left out, and so are stage directions. The
    last fifth of each role's text is the test part.
    """

    name = "plays"

    length: int = option(doc="characters that a sample sees", low=1)
    least: int = option(doc="characters of a role's text without which it is left out", low=2)
    every: int = option(1, doc="of the roles, by the length of their texts, each so many-th is a client", low=1)
    stride: int = option(1, doc="of the characters of a text, each so many-th is a label", low=1)

    def read(self, paths: Sequence[Path], contents: Contents, out: Writer) -> None:
        from scipy.sparse import csr_matrix

        (path,) = paths
        texts: dict[tuple[str, str], str] = {}
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                play = role_texts(archive.read(name).decode("ascii"))
                texts |= {(name, role): text for role, text in play.items() if len(text) >= self.least}
        by_length = sorted(texts, key=lambda role: (-len(texts[role]), role))
        parts: dict[str, list[np.ndarray]] = {"": [], "_test": []}
        owners: dict[str, list[np.ndarray]] = {"": [], "_test": []}
        for owner, role in enumerate(by_length[:: self.every]):
            codes = np.array([_NUMBER[character] for character in texts[role]])
            cut = int(TRAIN_SHARE * len(codes))
            for suffix, start, end in (("", 0, cut), ("_test", cut, len(codes))):  # no test sample sees training text
                labels = np.arange(start + self.length, end, self.stride)
                owners[suffix].append(np.full(len(labels), owner))
                parts[suffix].append(codes[labels[:, None] - np.arange(self.length + 1)])
        for suffix, blocks in parts.items():
            windows = np.concatenate(blocks)  # the label, then the characters before it, the nearest first
            columns = windows[:, 1:] + len(ALPHABET) * np.arange(self.length)
            rows = np.arange(len(windows) + 1) * self.length
            shape = len(windows), len(ALPHABET) * self.length
            out.save(f"X{suffix}", csr_matrix((np.ones(columns.size), columns.ravel(), rows), shape))
            out.save(f"y{suffix}", windows[:, 0].astype(np.int64))
            out.save(f"owner{suffix}", np.concatenate(owners[suffix]).astype(np.int64))


def role_texts(play: str) -> Mapping[str, str]:
    """Return the text of each role that speaks at least twice, by its name in small letters.

    Speeches begin after the first heading of an act or scene. A name stands alone on a line after an empty line and
    before a speech, in capitals or with capital first letters.

    Args:
        play: The play.
    """
    speeches: dict[str, list[str]] = {}
    for speaker, text in _speeches(play):
        speeches.setdefault(speaker, []).append(text)
    texts = {}
    for role, parts in speeches.items():
        text = _DIRECTION.sub(" ", " ".join(parts)).lower()
        words = "".join(c if c in _NUMBER else " " if c.isspace() else "" for c in text).split()
        if len(parts) > 1 and words:
            texts[role] = " ".join(words)
    return texts


def _speeches(play: str) -> Iterator[tuple[str, str]]:
    """Yield (speaker, text) of each speech, in order."""
    speaker, text, begun = None, "", False
    for paragraph in re.split(r"\n(?:[ \t]*\n)+", play):
        lines = paragraph.strip().split("\n")
        if _SCENE.match(lines[0]):
            role, begun = None, True
        elif len(lines) > 1 and _HEADING.fullmatch(heading := lines[0].strip()):
            role = heading.rstrip(".").casefold()
        else:
            text += "\n" + paragraph  # a speech goes on after a stage direction
            continue
        if speaker is not None:
            yield speaker, text
        speaker, text = role if begun else None, "\n".join(lines[1:])
    if speaker is not None:
        yield speaker, text
