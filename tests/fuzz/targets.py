"""Fuzzing: hostile inputs that must end in a result or in one UserError.

There are three targets: an experiment file, the command line and a user's own data. An input is bytes, so that one
that found a mistake can be kept as a file, in ``corpus/TARGET/``. The tests run the corpus and a few new inputs of
each target; ``make fuzz`` runs new ones for as long as is wanted (`tests.fuzz.__main__`).
"""

import contextlib
import faulthandler
import hashlib
import re
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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

    Attributes:
        name: Name of the target, and of its folder in the corpus.
        inputs: Strategy that draws bytes.
        run: Function of an input and an empty folder that runs the code; it refuses an input by UserError alone.
        seconds: Time limit of an input on a fast machine.
    """

    name: str
    inputs: st.SearchStrategy[Any]
    run: Callable[[bytes, Path], None]
    seconds: float = 10

    def feed(self, content: bytes, slack: float = SLACK) -> None:
        """Run the code on one input. Raises all but UserError, and TooSlow after ``slack`` times its seconds."""
        with tempfile.TemporaryDirectory() as folder, _within(slack * self.seconds), contextlib.suppress(UserError):
            self.run(content, Path(folder))

    def corpus(self) -> list[Path]:
        """Return the files of the target's inputs in the corpus."""
        return sorted(path for path in (CORPUS / self.name).glob("*") if path.is_file())

    def save(self, content: bytes) -> Path:
        """Write an input to the corpus, and return its path."""
        path = CORPUS / self.name / hashlib.sha256(content).hexdigest()[:12]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def search(self, number: int, examples: int, until: float = float("inf"), slack: float = SLACK) -> int:
        """Feed new inputs until a time of the monotonic clock, and return their count.

        Raises what an input raised, with the path of the smallest such input as a note.

        Args:
            number: Seed of the inputs.
            examples: Largest number of inputs.
            until: Time of the monotonic clock.
            slack: As of `feed`.
        """
        count, last = 0, None

        @seed(number)
        @settings(
            max_examples=examples,
            derandomize=False,  # the number alone says which inputs these are
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,  # so that the last input is the one that is told
        )
        @given(self.inputs)
        def feed(content: bytes) -> None:
            nonlocal count, last
            if time.monotonic() < until:
                count, last = count + 1, content
                self.feed(content, slack)

        try:
            feed()
        except Exception as error:
            error.add_note(f"{self.name}: the input is kept as {self.save(last)}")
            raise
        return count


class TooSlow(Exception):
    """An input took longer than its target allows."""


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    def expire(*_: Any) -> None:
        raise TooSlow(f"more than {seconds} s")

    handler = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    faulthandler.dump_traceback_later(6 * seconds, exit=True)  # what no signal interrupts
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


@st.composite
def mutated(draw: Any, seeds: Sequence[bytes]) -> bytes:
    """Draw one of several valid inputs, after up to four edits of bytes, numbers and stretches."""
    content = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        content = draw(st.sampled_from(EDITS))(draw, content, seeds)
    return content


def _position(draw: Any, content: bytes) -> int:
    return draw(st.integers(0, len(content)))


def _flip(draw: Any, content: bytes, seeds: Sequence[bytes]) -> bytes:
    at = _position(draw, content)
    return content[:at] + bytes([draw(st.integers(0, 255))]) + content[at + 1 :]


def _insert(draw: Any, content: bytes, seeds: Sequence[bytes]) -> bytes:
    at = _position(draw, content)
    return content[:at] + draw(st.sampled_from(PIECES) | st.binary(max_size=8)) + content[at:]


def _cut(draw: Any, content: bytes, seeds: Sequence[bytes]) -> bytes:
    first, last = sorted((_position(draw, content), _position(draw, content)))
    return content[:first] + content[last:]


def _truncate(draw: Any, content: bytes, seeds: Sequence[bytes]) -> bytes:
    return content[: _position(draw, content)]


def _repeat(draw: Any, content: bytes, seeds: Sequence[bytes]) -> bytes:
    first, last = sorted((_position(draw, content), _position(draw, content)))
    return content[:last] + content[first:last] * draw(st.integers(1, 9)) + content[last:]


def _splice(draw: Any, content: bytes, seeds: Sequence[bytes]) -> bytes:
    other = draw(st.sampled_from(seeds))
    return content[: _position(draw, content)] + other[_position(draw, other) :]


def _number(draw: Any, content: bytes, seeds: Sequence[bytes]) -> bytes:
    matches = list(NUMBER.finditer(content))
    if not matches:
        return content
    match = draw(st.sampled_from(matches))
    return content[: match.start()] + draw(st.sampled_from(PIECES)) + content[match.end() :]


EDITS = [_flip, _insert, _cut, _truncate, _repeat, _splice, _number]
