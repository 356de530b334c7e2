"""Fuzzing: hostile inputs that must end in a result or in one UserError.

A module of this folder declares `Target` records; they are found because they exist. An input is bytes or text, so that
one that found a mistake can be kept as a file, in ``corpus/TARGET/``. The tests run the corpus and a few new inputs of
each target; ``make fuzz`` runs new ones for as long as is wanted (`tests.fuzz.__main__`).
"""

import contextlib
import faulthandler
import hashlib
import importlib
import pkgutil
import re
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from fedatlas import UserError

CORPUS = Path(__file__).with_name("corpus")
PIECES = [b"", b"\0", b"\xff", b"\n", b"-1", b"0", b"1e999", b"nan", b"inf", b"9" * 30, b'"', b"'", b"{", b"[", b"]"]
PIECES += [b":", b",", b"\xff\xfe", b"\xef\xbb\xbf", b"%s", b"../", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"null"]
SLACK = 20  # for machines that are slow or busy
NUMBER = re.compile(rb"-?\d+(\.\d+)?")


@dataclass(frozen=True)
class Target:
    """Code under hostile inputs.

    name: also of the folder of kept inputs. inputs: a strategy that draws bytes or text. run: uses the code on an input
    in an empty folder; an input is refused by UserError, and by no other exception. seconds: that an input may take on
    a fast machine.
    """

    name: str
    inputs: st.SearchStrategy[Any]
    run: Callable[[Any, Path], None]
    seconds: float = 10
    text: bool = False

    def feed(self, content: Any, slack: float = SLACK) -> None:
        """Use the code on one input. Raises what is no UserError, and TooSlow after ``slack`` times its seconds."""
        with tempfile.TemporaryDirectory() as folder, _within(slack * self.seconds), contextlib.suppress(UserError):
            self.run(content, Path(folder))

    def kept(self) -> list[Path]:
        """Files of the kept inputs."""
        return sorted(path for path in (CORPUS / self.name).glob("*") if path.is_file())

    def read(self, path: Path) -> Any:
        """A kept input."""
        return path.read_bytes().decode("utf-8", "surrogatepass") if self.text else path.read_bytes()

    def keep(self, content: Any) -> Path:
        """Keep an input as a file of the corpus."""
        raw = content.encode("utf-8", "surrogatepass") if self.text else content
        path = CORPUS / self.name / hashlib.sha256(raw).hexdigest()[:12]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
        return path

    def search(self, number: int, examples: int, until: float = float("inf"), slack: float = SLACK) -> int:
        """Feed new inputs until a time of the monotonic clock; returns their count.

        number: seed of the inputs. slack: as of `feed`. Raises what an input raised, with the smallest such input as a
        note.
        """
        fed, last = 0, None

        @seed(number)
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,  # so that the last input is the one that is told
        )
        @given(self.inputs)
        def feed(content: Any) -> None:
            nonlocal fed, last
            if time.monotonic() < until:
                fed, last = fed + 1, content
                self.feed(content, slack)

        try:
            feed()
        except Exception as error:
            error.add_note(f"{self.name}: the input is kept as {self.keep(last)}")
            raise
        return fed


def unclocked() -> Any:
    """A context in which runs take no time, so that the files that they write are the same each time."""
    return mock.patch("time.perf_counter", lambda: 0.0)


class TooSlow(Exception):
    """An input took longer than its target allows."""


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    def late(*_: Any) -> None:
        raise TooSlow(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    faulthandler.dump_traceback_later(6 * seconds, exit=True)  # what no signal interrupts
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def targets() -> dict[str, Target]:
    """All targets by name."""
    here = importlib.import_module("tests.fuzz")
    names = [one.name for one in pkgutil.iter_modules(here.__path__) if one.name not in ("frame", "__main__")]
    modules = [importlib.import_module(f"tests.fuzz.{name}") for name in names if not name.startswith("test_")]
    found = [value for module in modules for value in vars(module).values() if isinstance(value, Target)]
    return {target.name: target for target in sorted(found, key=lambda one: one.name)}


@st.composite
def mutated(draw: Any, seeds: Sequence[bytes]) -> bytes:
    """A strategy: one of some valid inputs after up to four edits, of bytes, of numbers and of whole stretches."""
    content = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        content = draw(st.sampled_from(EDITS))(draw, content, seeds)
    return content


def _place(draw: Any, content: bytes) -> int:
    return draw(st.integers(0, len(content)))


def _flip(draw: Any, content: bytes, seeds: Sequence[bytes]) -> bytes:
    at = _place(draw, content)
    return content[:at] + bytes([draw(st.integers(0, 255))]) + content[at + 1 :]


def _insert(draw: Any, content: bytes, seeds: Sequence[bytes]) -> bytes:
    at = _place(draw, content)
    return content[:at] + draw(st.sampled_from(PIECES) | st.binary(max_size=8)) + content[at:]


def _cut(draw: Any, content: bytes, seeds: Sequence[bytes]) -> bytes:
    first, last = sorted((_place(draw, content), _place(draw, content)))
    return content[:first] + content[last:]


def _truncate(draw: Any, content: bytes, seeds: Sequence[bytes]) -> bytes:
    return content[: _place(draw, content)]


def _repeat(draw: Any, content: bytes, seeds: Sequence[bytes]) -> bytes:
    first, last = sorted((_place(draw, content), _place(draw, content)))
    return content[:last] + content[first:last] * draw(st.integers(1, 9)) + content[last:]


def _splice(draw: Any, content: bytes, seeds: Sequence[bytes]) -> bytes:
    other = draw(st.sampled_from(seeds))
    return content[: _place(draw, content)] + other[_place(draw, other) :]


def _number(draw: Any, content: bytes, seeds: Sequence[bytes]) -> bytes:
    found = list(NUMBER.finditer(content))
    if not found:
        return content
    one = draw(st.sampled_from(found))
    return content[: one.start()] + draw(st.sampled_from(PIECES)) + content[one.end() :]


EDITS = [_flip, _insert, _cut, _truncate, _repeat, _splice, _number]
