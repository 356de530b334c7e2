"""The ``fedatlas`` command. People call its subcommands; the workflow's rules call those under ``job``."""

import contextlib
import gc
import io
import os
import signal
import sys
import traceback
from typing import NoReturn

from fedatlas import commands, extensions, job_commands, study_commands
from fedatlas.arguments import Parser, cores, number, passed_on, port, text, whole
from fedatlas.errors import UserError


def command() -> NoReturn:
    """The process ``fedatlas``.

    A workflow starts hundreds of them, so it avoids what takes a third of a second: the garbage collection of what is
    imported, and the interpreter's clean-up at the end.
    """
    gc.set_threshold(100_000)
    signal.signal(signal.SIGTERM, _terminated)
    sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # if closed
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # what a locale cannot show
    status = main()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(status)


def main(argv: list[str] | None = None) -> int:
    """Run a command; returns the exit status.

    0; 2 after a mistake of the user, or where the machine lacks memory, disk or a permission: one sentence says what;
    130 after an interrupt; 1 where `check` found a failure, where nobody reads the output, and after a bug of fedatlas,
    whose traceback is printed.
    """
    # Parallelism is over jobs and clients: one numerical thread each, set before NumPy is loaded. Snakemake sets
    # these to a job's threads, but with another number of threads BLAS adds up in another order.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    try:
        words, more = passed_on(text(sys.argv[1:] if argv is None else argv))
        arguments = parser().parse_args(words)
        status: int | None = arguments.run(arguments, *more)
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
    except Exception as error:
        return _failed(error)
    return status or 0


def _failed(error: Exception) -> int:
    """Say whose exception it is: that of an extension, of the machine, or of fedatlas."""
    if sentence := extensions.said(error):
        sys.stderr.writelines(traceback.format_list(extensions.frames(error)))
        return _say(sentence, 2)
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename is not None else ""
        return _say(f"{error.strerror or error}{where}", 2)
    traceback.print_exception(error)
    if files := extensions.used():
        whose = f"a method in {' or '.join(files)} may have returned what it must not; otherwise this"
        return _say(f"{whose} is a bug of fedatlas: please report it to its maintainers, with the lines above", 1)
    return _say("this is a bug of fedatlas: please report it to its maintainers, with the lines above", 1)


def _say(sentence: str, status: int) -> int:
    print(f"fedatlas: {sentence}", file=sys.stderr)
    return status


def _terminated(*_: object) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)  # not at once: half-written files are removed on the way


def parser() -> Parser:
    """The argument parser."""
    top = Parser(prog="fedatlas", description="An executable atlas of federated optimisation.")
    groups = top.add_subparsers(required=True, metavar="command")

    one = groups.add_parser("list", help="names of all that the atlas holds, or of one section")
    one.add_argument("what", nargs="?", metavar="section", help="algorithms, problems, figures, data, experiments ...")
    one.set_defaults(run=commands.list_everything)

    one = groups.add_parser("show", help="definition, options and citation of an algorithm, a problem, a figure ...")
    one.add_argument("name", help="a name that `fedatlas list` shows")
    one.set_defaults(run=commands.show)

    one = groups.add_parser("init", help="write a new study: a folder of your own that runs at once")
    one.add_argument("folder", metavar="name", help="name of the new folder")
    one.set_defaults(run=study_commands.init)

    what = "make an experiment of this study or of the atlas: report, claims, MLflow runs"
    one = groups.add_parser("run", help=what, epilog="What stands after -- is given to snakemake.")
    one.add_argument("name", help="an experiment that `fedatlas list experiments` shows")
    one.add_argument("--size", choices=["smoke", "laptop", "paper"], metavar="size", help="smoke, laptop or paper")
    one.add_argument("--cores", type=cores, default="all", help="number of cores; default: all")
    one.add_argument("-n", "--dry-run", action="store_true", help="only show what would be made, and why")
    one.set_defaults(run=study_commands.run)

    one = groups.add_parser("train", help="one run from the shell")
    one.add_argument("--algorithm", required=True, help="a name that `fedatlas list algorithms` shows")
    hyper = "a hyper-parameter, or an option of the setting that has no option here, such as sampling; repeatable"
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=hyper)
    _problem(one)
    clients = "default: 10, or those of the data with --partition natural"
    one.add_argument("--clients", type=whole, help=clients)
    one.add_argument("--active", type=whole, help="clients drawn uniformly in each round; default: all")
    local = one.add_mutually_exclusive_group()
    local.add_argument("--local-steps", type=whole, default=1, help="local steps K of a round")
    local.add_argument("--local-epochs", type=whole, help="local epochs E of a round, in place of local steps")
    one.add_argument("--rounds", type=whole, default=100)
    one.add_argument("--batch", type=whole, default=1, help="samples of a local step; 0: full local gradients")
    one.add_argument("--eval-rounds", type=whole, help="rounds between evaluations")
    one.add_argument("--seed", type=whole, default=0)
    one.add_argument("--threads", type=whole, default=1, help="blocks of clients that are computed at once")
    one.add_argument("--state", default="memory", help="where client states are kept: memory, or disk (under TMPDIR)")
    one.add_argument("--no-optimum", action="store_true", help="do not solve for F* first")
    out = "write the rows: into FILE.parquet with the specification, into FILE.csv, or with - as CSV to standard output"
    one.add_argument("--out", metavar="FILE", help=f"{out}; only a file that this command wrote is replaced")
    one.add_argument("--json", action="store_true", help="print one JSON object: final, best, costs, status")
    _directory(one)
    one.set_defaults(run=commands.train)

    data = groups.add_parser("data", help="data sets: fetch, status, verify").add_subparsers(
        required=True, metavar="command"
    )
    one = data.add_parser("fetch", help="download data sets or copy them from a mirror, verify and prepare them")
    one.add_argument("names", nargs="+", metavar="name", help="a data set, or own data as after --data of train")
    one.add_argument("--mirror", action="append", default=[], help="folder or URL asked first; repeatable")
    _directory(one)
    one.set_defaults(run=commands.data_fetch)
    one = data.add_parser("status", help="which data sets are prepared, which are raw files, which are missing")
    one.add_argument("--mirror", action="append", default=[])
    one.add_argument("--json", action="store_true")
    _directory(one)
    one.set_defaults(run=commands.data_status)
    one = data.add_parser("verify", help="check files against sizes, checksums, rows and classes")
    one.add_argument("names", nargs="*", metavar="name", help="default: all that are prepared")
    _directory(one)
    one.set_defaults(run=commands.data_verify)

    one = groups.add_parser("theory", help="constants of a problem, and the hyper-parameters and bounds of theorems")
    _problem(one)
    one.add_argument("--clients", type=whole, help=f"number of clients M; {clients}")
    one.add_argument("--local-steps", type=whole, default=1, help="local steps K of a round")
    one.add_argument("--steps", type=whole, default=4096, help="local steps T = rounds x K")
    one.add_argument("--json", action="store_true", help="print the rows as JSON")
    _directory(one)
    one.set_defaults(run=commands.theory)

    one = groups.add_parser(
        "check", help="what every algorithm must pass, checked of one's own or of those that are named"
    )
    one.add_argument("names", nargs="*", metavar="algorithm", help="default: all that are not the atlas's")
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a hyper-parameter; repeatable")
    one.add_argument("--only", action="append", default=[], metavar="CHECK", help="a check of the table; repeatable")
    one.add_argument("--json", action="store_true", help="print the table as JSON")
    one.set_defaults(run=commands.check)

    one = groups.add_parser("claims", help="the papers' claims, and whether they held")
    one.add_argument("--results", help="folder of results; default: the one that config.yaml names")
    one.add_argument("--json", action="store_true")
    one.set_defaults(run=commands.claims)

    one = groups.add_parser("cite", help="BibTeX of algorithms, experiments or data sets")
    one.add_argument("names", nargs="*", metavar="name", help="default: the five papers")
    one.set_defaults(run=study_commands.cite)

    what = "write what a paper needs of an experiment: figures, tables and numbers for TeX, and BibTeX"
    one = groups.add_parser("paper", help=what)
    one.add_argument("name", help="an experiment that `fedatlas list experiments` shows, with finished results")
    one.add_argument("--size", choices=["smoke", "laptop", "paper"], metavar="size", help="smoke, laptop or paper")
    one.add_argument("--out", metavar="FOLDER", help="where to write; default: paper/NAME")
    one.add_argument("--width", type=number, default=3.25, help="width of a column, in inches; default: 3.25")
    one.add_argument("--points", type=number, default=8.0, help="size of the letters in figures; default: 8")
    fonts = "cm: Computer Modern, times: like Times (STIX), sans: without serifs; default: cm"
    one.add_argument("--fonts", choices=["cm", "times", "sans"], default="cm", metavar="FONTS", help=fonts)
    _directory(one)
    one.set_defaults(run=study_commands.paper)

    what = "write docs/gallery.md: new entries from results that are there, the committed ones of all others"
    one = groups.add_parser("gallery", help=what)
    _directory(one)
    one.set_defaults(run=study_commands.gallery)

    one = groups.add_parser("clean", help="remove results of old code and half-written files")
    one.add_argument("--dry-run", action="store_true", help="print what would be removed, and remove nothing")
    one.add_argument("--unfinished", action="store_true", help="also what interrupted jobs would continue from")
    one.add_argument("--prepared", action="store_true", help="also prepared data whose raw files are there")
    _directory(one)
    one.set_defaults(run=study_commands.clean)

    one = groups.add_parser("ui", help="open the MLflow user interface")
    one.add_argument("--uri", help="sqlite:///FILE, or a server's address; default: the one that config.yaml names")
    one.add_argument("--port", type=port, default=5000)
    one.set_defaults(run=study_commands.ui)

    job_commands.add(groups.add_parser("job", help="a step of the workflow, as its rules call it"), _directory)
    return top


def _problem(command: Parser) -> None:
    command.add_argument("--problem", default="logistic", help="a kind that `fedatlas list problems` shows")
    own = "a data set that `fedatlas data status` shows, or own data, e.g. mine.csv,label=y,client=hospital"
    command.add_argument("--data", metavar="NAME|FILE[,NAME=VALUE...]", help=own)
    command.add_argument("--l2", type=number, help="weight of |x|^2 / 2")
    command.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="another problem option")
    split = "how data are split, e.g. dirichlet,alpha=0.3"
    command.add_argument("--partition", metavar="KIND[,NAME=VALUE...]", help=split)


def _directory(command: Parser) -> None:
    command.add_argument("--directory", help="data directory; default $FEDATLAS_DATA or ./data")


if __name__ == "__main__":
    command()
