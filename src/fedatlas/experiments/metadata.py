"""The metadata of result files, as records."""

import contextlib
from collections.abc import Iterator

from fedatlas.errors import UserError


@contextlib.contextmanager
def _explain() -> Iterator[None]:
    """Turn what metadata of another form raise into a UserError."""
    try:
        yield
    except (TypeError, LookupError, AttributeError, ValueError) as error:
        raise UserError(f"a result file has other metadata ({error}): delete it and run again") from None
