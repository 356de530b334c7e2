"""The ``fedatlas`` command: what a person calls, and under ``job`` what the workflow's rules call."""

import argparse
import gc
import os
import sys
from typing import NoReturn

from fedatlas import commands, job_commands
from fedatlas.errors import UserError


def command() -> NoReturn:
    """The process ``fedatlas``, which has no time to lose: a workflow starts hundreds of them.

    Looking for cycles among what is imported, and at the end taking everything apart, take a third of a second.
    """
    gc.set_threshold(100_000)
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main(argv: list[str] | None = None) -> int:
    """Run a command; returns the exit status: 0, or 2 after a user's mistake."""
    arguments = parser().parse_args(argv)
    # Parallelism is over jobs and clients: one numerical thread each, set before NumPy is loaded. Snakemake sets
    # these to a job's threads, but with another number of threads BLAS adds up in another order.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    try:
        arguments.run(arguments)
    except UserError as error:
        print(f"fedatlas: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("fedatlas: interrupted", file=sys.stderr)
        return 130
    return 0


def parser() -> argparse.ArgumentParser:
    """The argument parser."""
    top = argparse.ArgumentParser(prog="fedatlas", description="An executable atlas of federated optimisation.")
    groups = top.add_subparsers(required=True, metavar="command")

    one = groups.add_parser("list", help="all that the atlas holds, or one section of it")
    one.add_argument("what", nargs="?", metavar="section", help="algorithms, problems, figures, data, experiments ...")
    one.set_defaults(run=commands.list_everything)

    one = groups.add_parser("show", help="what is declared of an algorithm, a problem, a figure ...: options, citation")
    one.add_argument("name", help="a name that `fedatlas list` shows")
    one.set_defaults(run=commands.show)

    one = groups.add_parser("train", help="one run from the shell")
    one.add_argument("--algorithm", required=True, help="a name that `fedatlas list algorithms` shows")
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a hyper-parameter; repeatable")
    _problem(one)
    one.add_argument("--clients", type=int, default=10)
    one.add_argument("--active", type=int, help="clients drawn uniformly each round; default all")
    local = one.add_mutually_exclusive_group()
    local.add_argument("--local-steps", type=int, default=1, help="K")
    local.add_argument("--local-epochs", type=int, help="E, passes over each client's data, in place of K")
    one.add_argument("--rounds", type=int, default=100)
    one.add_argument("--batch", type=int, default=1, help="samples a step; 0 for full local gradients")
    one.add_argument("--eval-rounds", type=int, help="rounds between evaluations")
    one.add_argument("--seed", type=int, default=0)
    one.add_argument("--threads", type=int, default=1, help="client blocks computed at once")
    one.add_argument("--state", default="memory", help="where client states lie: memory, or disk (under TMPDIR)")
    one.add_argument("--no-optimum", action="store_true", help="do not solve for F* first")
    one.add_argument("--out", metavar="FILE.parquet", help="write the rows there")
    one.add_argument("--json", action="store_true", help="print one JSON object: final, best, costs, status")
    _directory(one)
    one.set_defaults(run=commands.train)

    data = groups.add_parser("data", help="data sets: fetch, status, verify").add_subparsers(required=True)
    one = data.add_parser("fetch", help="download or copy from a mirror, verify and prepare")
    one.add_argument("names", nargs="+", metavar="name")
    one.add_argument("--mirror", action="append", default=[], help="folder or URL asked first; repeatable")
    _directory(one)
    one.set_defaults(run=commands.data_fetch)
    one = data.add_parser("status", help="what is there")
    one.add_argument("--mirror", action="append", default=[])
    one.add_argument("--json", action="store_true")
    _directory(one)
    one.set_defaults(run=commands.data_status)
    one = data.add_parser("verify", help="check files against sizes, checksums, rows and classes")
    one.add_argument("names", nargs="*", metavar="name", help="default: all that are prepared")
    _directory(one)
    one.set_defaults(run=commands.data_verify)

    one = groups.add_parser("theory", help="what theorems promise on a problem: constants, hyper-parameters, bounds")
    _problem(one)
    one.add_argument("--clients", type=int, default=10, help="M")
    one.add_argument("--local-steps", type=int, default=1, help="K")
    one.add_argument("--steps", type=int, default=4096, help="T = rounds x local steps")
    one.add_argument("--json", action="store_true", help="print the rows as JSON")
    _directory(one)
    one.set_defaults(run=commands.theory)

    one = groups.add_parser("claims", help="the papers' claims and whether they held")
    one.add_argument("--results", default="results")
    one.add_argument("--json", action="store_true")
    one.set_defaults(run=commands.claims)

    one = groups.add_parser("cite", help="BibTeX of algorithms, experiments or data sets")
    one.add_argument("names", nargs="*", metavar="name", help="default: the five papers")
    one.set_defaults(run=commands.cite)

    one = groups.add_parser("clean", help="remove results of old code, and what else the workflow can make again")
    one.add_argument("--dry-run", action="store_true", help="only say what would be removed")
    one.add_argument("--unfinished", action="store_true", help="also what interrupted jobs would go on from")
    one.add_argument("--prepared", action="store_true", help="also prepared data whose raw files are there")
    _directory(one)
    one.set_defaults(run=commands.clean)

    one = groups.add_parser("ui", help="open the MLflow user interface")
    one.add_argument("--uri", default="sqlite:///results/mlflow.db")
    one.add_argument("--port", type=int, default=5000)
    one.set_defaults(run=commands.ui)

    job_commands.add(groups.add_parser("job", help="a step of the workflow, as its rules call it"), _directory)
    return top


def _problem(command: argparse.ArgumentParser) -> None:
    command.add_argument("--problem", default="logistic", help="a kind that `fedatlas list problems` shows")
    command.add_argument("--data", help="a data set that `fedatlas data status` shows")
    command.add_argument("--l2", type=float, help="weight of |x|^2 / 2")
    command.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="another problem option")
    split = "how data are split, e.g. dirichlet,alpha=0.3"
    command.add_argument("--partition", metavar="KIND[,NAME=VALUE...]", help=split)


def _directory(command: argparse.ArgumentParser) -> None:
    command.add_argument("--directory", help="data directory; default $FEDATLAS_DATA or ./data")


if __name__ == "__main__":
    command()
