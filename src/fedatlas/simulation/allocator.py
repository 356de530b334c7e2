"""What the C library does with freed memory."""

import contextlib
import ctypes
import functools

TRIM, MMAPS = -1, -4  # M_TRIM_THRESHOLD and M_MMAP_MAX of malloc.h


@functools.cache
def keep():
    """Have glibc keep freed memory for the next arrays of this process, instead of handing it back and forth.

    A round frees and takes the same vectors again and again; page faults would cost a third of its time where steps are
    cheap, and several times what the arithmetic costs on vectors of millions. Other C libraries are left alone.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL("libc.so.6")
        library.mallopt(TRIM, 1 << 30)
        library.mallopt(MMAPS, 0)
