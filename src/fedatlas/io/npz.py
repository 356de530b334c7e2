"""Archives of arrays: their headers are compared with their size before anything is allocated."""

import math
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def validate(path: str | Path, limit: int | None = None) -> None:
    """Check that an .npz file holds arrays of the sizes that their headers state.

    Args:
        path: The file.
        limit: Bytes that compressed arrays may have in total; None if they are not compressed, as by ``numpy.savez``.

    Raises:
        ValueError: The file is no such archive; the text says why.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            total, bound = sum(member.file_size for member in members), limit or Path(path).stat().st_size
            if total > bound:
                raise ValueError(f"it unpacks to more than {bound:,} bytes")
            for member in members:
                with archive.open(member) as stream:
                    _compare(stream, member.file_size)
    except ValueError:
        raise
    except Exception as error:  # NumPy's and zipfile's parsers raise whatever they stumble over
        raise ValueError(str(error) or type(error).__name__) from error


def validate_array(path: Path) -> None:
    """Check that an .npy file holds an array of the size that its header states. Raise ValueError if it does not."""
    try:
        with open(path, "rb") as stream:
            _compare(stream, path.stat().st_size)
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _compare(stream: IO[bytes], size: int) -> None:
    """Raise ValueError unless the header of an array leads to a file of ``size`` bytes."""
    read = _HEADERS.get(np.lib.format.read_magic(stream))
    if read is None:
        raise ValueError("its arrays are of a version that is not known")
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are refused")
    if stream.tell() + math.prod(shape) * dtype.itemsize != size:
        raise ValueError(f"an array is of {dtype} {shape}, which does not fit its {size:,} bytes")
