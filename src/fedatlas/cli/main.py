"""The ``fedatlas`` command. People call its subcommands; the workflow's rules call those under ``job``."""

import contextlib
import gc
import io
import os
import pkgutil
import signal
import sys
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

from fedatlas.cli.parser import parser, split_passed
from fedatlas.errors import UserError, shorten
from fedatlas.io.files import explain
from fedatlas.registry import extensions

COMPILER = "llvmlite."  # modules with functions that LLVM calls
MOMENT = 0.02  # seconds
# The instructions by which the record was computed: with AVX-512, NumPy, OpenBLAS and torch add in another order.
AVX2 = {
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "ATEN_CPU_CAPABILITY": "avx2",
}


def command() -> NoReturn:
    """Run the process ``fedatlas``.

    A workflow starts hundreds of them, so it avoids what takes a third of a second: the garbage collection of what is
    imported, and the interpreter's clean-up at the end, a tenth of a second of the half that a short job or `fedatlas
    list` takes of a processor. Under coverage or a profiler, which write then, it ends as any program.
    """
    gc.set_threshold(100_000)
    signal.signal(signal.SIGTERM, _end)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell's background jobs ignore it
        signal.signal(signal.SIGINT, _end)
    sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # if closed
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what a locale cannot show
    status = main()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    if sys.gettrace() or sys.getprofile():
        sys.exit(status)
    os._exit(status)


def main(argv: list[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: Words of the command; by default those of the process.

    Returns:
        The exit status: 0; 2 after a mistake of the user, or if memory, disk or a permission is missing, with one
        sentence about it; 130 after an interrupt; 1 if `check` found a failure, if nobody reads the output, and after a
        bug of fedatlas, whose traceback is printed.
    """
    # Parallelism is over jobs and clients: one numerical thread each, set before NumPy is loaded. Snakemake sets
    # these to a job's threads, but with another number of threads BLAS adds up in another order.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    try:
        words, passed = split_passed(sys.argv[1:] if argv is None else argv)
        arguments = parser().parse_args(words)
        if arguments.run == "record:verify" and "numpy" not in sys.modules:
            os.environ.update(AVX2 | os.environ)
        arguments.output = sys.stdout
        reserved = getattr(arguments, "json", False) or getattr(arguments, "csv", False)
        with contextlib.redirect_stdout(sys.stderr if reserved else sys.stdout):  # of what extensions print
            status: int | None = pkgutil.resolve_name(f"fedatlas.cli.{arguments.run}")(arguments, *passed)
        sys.stdout.flush()
    except UserError as error:
        return _say(f"{error}", 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except MemoryError as error:
        return _say(f"the memory does not suffice ({error}): take a smaller batch, model or data set", 2)
    except KeyboardInterrupt:
        return _say("interrupted", 130)
    except BaseException as error:
        if isinstance(error, SystemExit) and not extensions.traceback_lines(error):
            raise  # of --help
        return _failed(error)
    return status or 0


def _failed(error: BaseException) -> int:
    """Print whose exception it is, that of an extension, of the machine or of fedatlas, and return the status."""
    if sentence := extensions.explain(error):
        sys.stderr.writelines(traceback.format_list(extensions.traceback_lines(error)))
        return _say(sentence, 2)
    if isinstance(error, OSError):
        return _say(explain(error, f": {error.filename}" if error.filename is not None else ""), 2)
    traceback.print_exception(error)
    return _say("this is a bug of fedatlas: please report it to its maintainers, with the lines above", 1)


def _say(message: str, status: int) -> int:
    """Print a message, of which each line is a sentence, and return the status."""
    print("fedatlas: " + "\n".join(map(shorten, message.split("\n"))), file=sys.stderr)
    return status


def _end(number: int, frame: FrameType | None) -> None:
    """End the process by an exception, so that half-written files are removed on the way.

    An exception in a function that LLVM calls while it compiles would be lost, so there the end comes a moment later.
    """
    inside = any(caller.f_globals.get("__name__", "").startswith(COMPILER) for caller in _frames(frame))
    if inside and hasattr(signal, "setitimer"):  # Windows has none
        signal.signal(signal.SIGALRM, lambda _, later: _end(number, later))
        signal.setitimer(signal.ITIMER_REAL, MOMENT)
        return
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise SystemExit(128 + number)


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield a frame and those that called it."""
    while frame is not None:
        yield frame
        frame = frame.f_back


if __name__ == "__main__":
    command()
