"""Archives of arrays: what they declare is compared with what they hold, before anything is allocated."""

import math
import zipfile
from pathlib import Path
from typing import IO

import numpy as np

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def check(path: str | Path, limit: int | None = None) -> None:
    """Raise ValueError unless an .npz file holds arrays of the sizes that it declares.

    limit: bytes that compressed arrays may have together; None: they are not compressed, as by ``numpy.savez``.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            total, most = sum(one.file_size for one in members), limit or Path(path).stat().st_size
            if total > most:
                raise ValueError(f"it unpacks to more than {most:,} bytes")
            for one in members:
                with archive.open(one) as stream:
                    _compare(stream, one.file_size)
    except ValueError:
        raise
    except Exception as error:  # NumPy's and zipfile's parsers raise whatever they stumble over
        raise ValueError(str(error) or type(error).__name__) from error


def check_array(path: Path) -> None:
    """Raise ValueError unless an .npy file holds an array of the size that it declares."""
    try:
        with open(path, "rb") as stream:
            _compare(stream, path.stat().st_size)
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(str(error) or type(error).__name__) from error


def _compare(stream: IO[bytes], size: int) -> None:
    """Raise ValueError unless the header of an array leads to a file of this many bytes."""
    read = _HEADERS.get(np.lib.format.read_magic(stream))
    if read is None:
        raise ValueError("its arrays are of a version that is not known")
    shape, _, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are refused")
    if stream.tell() + math.prod(shape) * dtype.itemsize != size:
        raise ValueError(f"an array is of {dtype} {shape}, which does not fit its {size:,} bytes")
