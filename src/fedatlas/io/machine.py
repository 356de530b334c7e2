"""This machine: its description, its memory, and text and progress bars in its terminal."""

import contextlib
import ctypes
import functools
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from fedatlas.errors import UserError

OWN_CGROUPS, CGROUPS = "/proc/self/cgroup", "/sys/fs/cgroup"  # the group of this process, and where groups lie
PACKAGES = ("fedatlas", "numba", "numpy", "scipy", "torch")  # that compute, and so may change a number
TRIM, MMAPS = -1, -4  # M_TRIM_THRESHOLD and M_MMAP_MAX of malloc.h
DELAY = 2.0  # seconds before a bar appears: short commands show none
UNBROKEN = 10_000  # columns without a terminal


def core_count(text: str = "all") -> int:
    """Return a number of cores; of ``all``, those that this process may use."""
    if text != "all":
        return int(text)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """Return the model of this machine's processor."""
    with contextlib.suppress(OSError):
        if match := re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE):
            return " ".join(match[1].split())
    return platform.processor() or platform.machine()


def free_host() -> int:
    """Return the bytes of free memory: of the machine, or of the job of this process if that may take less."""
    import psutil

    free, limit = psutil.virtual_memory().available, memory_limit()
    return free if limit is None else min(free, limit - psutil.Process().memory_info().rss)


@functools.cache
def memory_limit() -> int | None:
    """Return the bytes that the job of this process may take; None where nothing limits it.

    It is the least limit of the control groups in which the process lies, and of what SLURM gave the job on this node.
    """
    return min([*_cgroup_limits(), *_slurm_limits()], default=None)


def _cgroup_limits() -> Iterator[int]:
    """Yield the limits of this process's control group, in the second version of the kernel's interface."""
    with contextlib.suppress(OSError):
        for line in Path(OWN_CGROUPS).read_text().splitlines():
            folder = PurePosixPath(line.partition("::/")[2])
            for group in (folder, *folder.parents) if line.startswith("0::") else ():
                with contextlib.suppress(OSError, ValueError):
                    yield int(Path(CGROUPS, group, "memory.max").read_text())


def _slurm_limits() -> Iterator[int]:
    """Yield what SLURM gave the job of this process on this node; 0 stands for all of its memory."""
    with contextlib.suppress(KeyError, ValueError):
        if megabytes := int(os.environ["SLURM_MEM_PER_NODE"]):
            yield megabytes * 2**20
    with contextlib.suppress(KeyError, ValueError):
        yield int(os.environ["SLURM_MEM_PER_CPU"]) * int(os.environ["SLURM_CPUS_ON_NODE"]) * 2**20


def usage() -> tuple[float, int]:
    """Return the processor seconds of this process, and the bytes of memory that it took at most."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux kilobytes
    return used.ru_utime + used.ru_stime, used.ru_maxrss * unit


def require_memory(need: int, subject: str, advice: str) -> None:
    """Raise UserError if something needs more memory than is free.

    Args:
        need: Bytes that it needs.
        subject: Its noun, for the sentence.
        advice: Clause that says what the user can do.
    """
    if need > (free := free_host()):
        sizes = f"{format_size(need)} of memory, but only {format_size(free)}"
        raise UserError(f"{subject} needs about {sizes} are free: {advice}")


@functools.cache
def keep_freed_memory() -> None:
    """Have glibc keep freed memory for the next arrays of this process.

    A round frees and allocates the same vectors again and again. If glibc returned them to the system, page faults
    would cost a third of a round's time where steps are cheap, and several times the arithmetic on vectors of millions.
    Other C libraries are left as they are.
    """
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL("libc.so.6")
        library.mallopt(TRIM, 1 << 30)
        library.mallopt(MMAPS, 0)


def format_duration(seconds: float, measured: bool = True) -> str:
    """Return a time for people: ``5 s``, ``39 min``, ``2.5 h`` or ``64 days``; an estimate with ``~``."""
    if seconds < 1:
        return "under 1 s"
    count, unit = seconds, "days"
    for step, name in ((60, "s"), (60, "min"), (24, "h")):
        if count < 1.5 * step:
            unit = name
            break
        count /= step
    return ("" if measured else "~") + (f"{count:.0f} {unit}" if count >= 9.5 else f"{count:.2g} {unit}")


def format_size(count: float) -> str:
    """Return a number of bytes for people: ``1.5 GiB``."""
    count = min(count, 1 << 1000)  # a number of a user's may exceed what can be divided
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:,.0f} GiB" if 1000 <= count < 1e12 else f"{count:,.3g} GiB"


@functools.cache
def environment() -> dict[str, str]:
    """Return versions of Python and packages, ``processor``, ``machine`` in words, and the code's ``commit``.

    Unknown entries are left out, and so is the name of the machine.
    """
    from importlib.metadata import PackageNotFoundError, version

    import psutil

    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            versions[name] = version(name)
    cores, memory = core_count(), format_size(psutil.virtual_memory().total)
    machine = f"{processor()}, {cores} {'core' if cores == 1 else 'cores'}, {platform.system()}, {memory}"
    versions |= {"processor": processor(), "machine": machine, "commit": _commit()}
    return {name: text for name, text in versions.items() if text}


def _commit() -> str:
    """Return the commit of the package's working copy, with -dirty if it has changes; empty if it is installed."""
    root = Path(__file__).parents[3]
    if not (root / ".git").exists():
        return ""
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    return ""


def width() -> int:
    """Return the columns of the terminal, from 60 to 120; without a terminal, so many that no line is broken."""
    columns = shutil.get_terminal_size((0, 0)).columns
    return max(60, min(120, columns)) if columns else UNBROKEN


def hanging_indent(head: str, text: str, margin: int | None = None, columns: int | None = None) -> str:
    """Return text in lines to the right of a head.

    Args:
        head: Text in the first columns of the first line.
        text: Text that is wrapped.
        margin: Columns of the head, by default its length.
        columns: Columns of a line, by default those of the terminal.
    """
    indent = " " * (len(head) if margin is None else margin)
    options: Any = {"break_on_hyphens": False, "break_long_words": False, "subsequent_indent": indent}
    return textwrap.fill(text, columns or width(), initial_indent=head.ljust(len(indent)), **options) or head.rstrip()


def progress_bar(description: str, total: int, unit: str = "step") -> Any:
    """Return a bar on standard error; none without a terminal, and none in the first seconds.

    Args:
        description: Words in front of the bar.
        total: Number of steps.
        unit: Noun of a step. The bar's ``update`` counts steps.
    """
    from tqdm import tqdm

    return tqdm(desc=description, total=total, unit=unit, leave=False, delay=DELAY, disable=None, dynamic_ncols=True)
