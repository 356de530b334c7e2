"""What the C library does with freed memory."""

import contextlib
import ctypes
import functools

TRIM, MMAP = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h


@functools.cache
def keep():
    """Have glibc keep freed memory for the next arrays of this process, instead of handing it back and forth.

    A round frees and takes the same few megabytes again and again; page faults would cost a third of its time where
    steps are cheap. Arrays of 32 MB and more still go back at once. Other C libraries are left alone.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL("libc.so.6")
        library.mallopt(TRIM, 1 << 28)
        library.mallopt(MMAP, 1 << 25)
