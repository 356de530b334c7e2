"""Decorators of compiled functions: ``kernel`` for those that Python calls, ``internal`` and ``inline`` for others."""

from numba import njit

kernel = njit(error_model="numpy", cache=True, nogil=True)
internal = njit(error_model="numpy")
inline = njit(error_model="numpy", forceinline=True)  # by LLVM: Numba's own inlining takes twice as long to compile
