"""Numbers that are too large to compute with, as a sentence."""

import contextlib
from collections.abc import Iterator

from fedatlas.errors import UserError


@contextlib.contextmanager
def refused(what: str) -> Iterator[None]:
    """Make a UserError of the OverflowError that Python raises where it computes with numbers that were given.

    what: who computes, such as an algorithm's name, for the sentence.
    """
    try:
        yield
    except OverflowError as error:
        raise UserError(
            f"{what}: a number exceeds the range of double precision ({error.args[-1] if error.args else error}): give "
            "numbers that are not as large"
        ) from None
