"""The subcommands and options of ``fedatlas``. The help of each option says its default."""

import argparse
from typing import Any

from fedatlas.cli import commands, job, record, study
from fedatlas.cli.arguments import DEFAULT_CLIENTS, Parser, cores, port
from fedatlas.experiments import SIZES

SET = "a hyper-parameter, or an option of the setting that has no option here, such as sampling; repeatable"
SIZE = "smoke, laptop or paper; default: the one that config.yaml names, or laptop"
CLIENTS = f"number of clients M; default: {DEFAULT_CLIENTS}, or those of the data with --partition natural"
OUT = (
    "write the rows: into FILE.parquet with the specification, into FILE.csv, or with - as CSV to standard output; "
    "only a file that this command wrote is replaced; default: none"
)


def parser() -> Parser:
    """Return the argument parser."""
    top = Parser(prog="fedatlas", description="An executable atlas of federated optimisation.")
    text, suppressed = "print the version and exit", argparse.SUPPRESS  # jobs take all that the arguments hold
    top.add_argument("--version", action=_Version, nargs=0, dest=suppressed, default=suppressed, help=text)
    groups = top.add_subparsers(required=True, metavar="command")
    _add_studies(groups)
    _add_names(groups)
    _add_train(groups)
    _add_check(groups)
    _add_data(groups)
    record.add(groups.add_parser("record", help="results that come with fedatlas: show, verify and extend them"))
    _add_tracking(groups)
    _add_theory(groups)
    _add_cite(groups)
    job.add(groups.add_parser("job"), _directory_option)  # which rules call, and help does not show
    return top


class _Version(argparse.Action):
    """Prints the version of the installed package."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"fedatlas {version('fedatlas')}")
        parser.exit()


def _add_studies(groups: Any) -> None:
    command = groups.add_parser("init", help="write a study: a folder of your own that runs at once")
    command.add_argument("folder", metavar="name", help="name of the new folder")
    command.set_defaults(run=study.init)

    text = "make an experiment: report, figures, claims, MLflow runs"
    command = groups.add_parser("run", help=text, epilog="What stands after -- is given to snakemake.")
    command.add_argument("name", help="an experiment that `fedatlas list experiments` shows")
    command.add_argument("--size", choices=SIZES, metavar="size", help=SIZE)
    command.add_argument("--cores", type=cores, default="all", help="number of cores")
    text = "only show what would be made, and why, and how much time and memory it takes"
    command.add_argument("-n", "--dry-run", action="store_true", help=text)
    command.add_argument("--case", help="make the run files of this case alone; default: all results")
    command.set_defaults(run=study.run)

    text = "your algorithm beside those of an experiment, tuned alike"
    command = groups.add_parser("compare", help=text)
    text = "an algorithm of the study or of the atlas, or a CSV file of runs that another framework made"
    command.add_argument("names", nargs="+", metavar="algorithm", help=text)
    text = "the experiment with whose entries they are compared"
    command.add_argument("--on", default="landscape", metavar="experiment", help=text)
    command.add_argument("--size", choices=SIZES, metavar="size", help=SIZE)
    command.add_argument("--quick", action="store_true", help="a third of the problems, five scoring seeds")
    command.add_argument("--compute", action="store_true", help="train what the record lacks of the other entries")
    text = "a hyper-parameter that is fixed and not tuned; repeatable"
    command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=text)
    text = (
        "a range in which a hyper-parameter is tuned, e.g. lr=[0.001,1]; repeatable; default: that of its declaration"
    )
    command.add_argument("--search", action="append", default=[], metavar="NAME=[LOW,HIGH]", help=text)
    text = "count the simulated seconds of these clients too, such as cross-device; default: none"
    command.add_argument("--model", metavar="KIND", help=text)
    command.add_argument("--cores", type=cores, default="all", help="number of cores")
    command.add_argument("-n", "--dry-run", action="store_true", help="only say what would be trained, and how long")
    _directory_option(command)
    command.set_defaults(run=study.compare)

    text = "write the page that answers which method is good when"
    command = groups.add_parser("guide", help=text)
    text = "the suite, an experiment whose problems are cases"
    command.add_argument("--on", default="landscape", metavar="experiment", help=text)
    command.add_argument("--size", choices=SIZES, metavar="size", help="default: the largest that has a record")
    command.add_argument("--out", default="which-method.html", metavar="FILE.html", help="where to write")
    command.set_defaults(run=study.guide)


def _add_names(groups: Any) -> None:
    command = groups.add_parser("list", help="names of all that the atlas holds")
    text = "algorithms, problems, figures, data, experiments ...; default: all"
    command.add_argument("what", nargs="?", metavar="section", help=text)
    command.add_argument("--json", action="store_true", help="print one JSON object, with a list for each section")
    command.set_defaults(run=commands.list_names)

    command = groups.add_parser("show", help="all about one name; with --claims, which claims held")
    text = "a name that `fedatlas list` shows, or a key of a paper; with --claims an experiment, default: all"
    command.add_argument("name", nargs="?", help=text)
    command.add_argument("--claims", action="store_true", help="show the papers' claims, and whether they held here")
    _results_option(command)
    command.add_argument("--json", action="store_true", help="print a JSON list of the claims")
    command.set_defaults(run=commands.show)


def _add_train(groups: Any) -> None:
    command = groups.add_parser("train", help="one run from the shell")
    text = "a name that `fedatlas list algorithms` shows"
    command.add_argument("--algorithm", metavar="NAME", required=True, help=text)
    command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=SET)
    _problem_options(command)
    command.add_argument("--clients", type=int, help=CLIENTS)
    group = command.add_mutually_exclusive_group()
    group.add_argument("--active", type=int, help="clients drawn uniformly in each round; default: all")
    text = "which clients take part in a round, e.g. bernoulli,p=0.5; default: full"
    group.add_argument("--participation", metavar="KIND[,NAME=VALUE...]", help=text)
    text = "factor on the step size in each round, e.g. exponential,decay=0.99; default: constant"
    command.add_argument("--schedule", metavar="KIND[,NAME=VALUE...]", help=text)
    text = "what clients' messages pass before the mean, e.g. top-k,share=0.01; default: identity"
    command.add_argument("--channel", metavar="KIND[,NAME=VALUE...]", help=text)
    local = command.add_mutually_exclusive_group()
    local.add_argument("--local-steps", type=int, default=1, help="local steps K of a round")
    local.add_argument("--local-epochs", type=int, help="local epochs E of a round; default: local steps are counted")
    command.add_argument("--rounds", type=int, default=100, help="rounds R of communication")
    command.add_argument("--batch", type=int, default=1, help="samples of a local step; 0: full local gradients")
    text = "rounds between two evaluations; default: a hundredth of all rounds"
    command.add_argument("--eval-rounds", type=int, help=text)
    command.add_argument("--seed", type=int, default=0, help="seed of samples, participation and start")
    command.add_argument("--threads", type=int, default=1, help="blocks of clients that are computed at once")
    command.add_argument(
        "--state",
        metavar="PLACE",
        default="memory",
        help="where client states are kept: memory, or disk (under TMPDIR)",
    )
    command.add_argument("--no-optimum", action="store_true", help="do not solve for F* first")
    command.add_argument("--out", metavar="FILE", help=OUT)
    command.add_argument("--json", action="store_true", help="print one JSON object: final, best, costs, status")
    _directory_option(command)
    command.set_defaults(run=commands.train)


def _add_check(groups: Any) -> None:
    text = "test whether algorithms do what their papers say"
    command = groups.add_parser("check", help=text)
    text = "an algorithm; default: all that are not the atlas's"
    command.add_argument("names", nargs="*", metavar="algorithm", help=text)
    command.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a hyper-parameter; repeatable"
    )
    text = "conformance test to run; repeatable; default: all"
    command.add_argument("--only", action="append", default=[], metavar="CHECK", help=text)
    command.add_argument("--json", action="store_true", help="print the table as JSON")
    command.set_defaults(run=commands.check)


def _add_data(groups: Any) -> None:
    data = groups.add_parser("data", help="data sets: fetch, status, verify").add_subparsers(
        required=True, metavar="command"
    )
    mirror = "folder or URL asked first; repeatable; default: those of $FEDATLAS_DATA_MIRRORS"
    command = data.add_parser("fetch", help="download data sets or copy them from a mirror, verify and prepare them")
    text = "a data set, or custom data as after --data of train"
    command.add_argument("names", nargs="+", metavar="name", help=text)
    command.add_argument("--mirror", action="append", default=[], metavar="FOLDER|URL", help=mirror)
    _directory_option(command)
    command.set_defaults(run=commands.data_fetch)

    command = data.add_parser("status", help="which data sets are prepared, which are raw files, which are missing")
    command.add_argument("--mirror", action="append", default=[], metavar="FOLDER|URL", help=mirror)
    command.add_argument("--json", action="store_true", help="print a JSON list of the data sets")
    _directory_option(command)
    command.set_defaults(run=commands.data_status)

    command = data.add_parser("verify", help="check files against sizes, checksums, rows and classes")
    text = "a data set; default: all that are prepared"
    command.add_argument("names", nargs="*", metavar="name", help=text)
    _directory_option(command)
    command.set_defaults(run=commands.data_verify)


def _add_tracking(groups: Any) -> None:
    command = groups.add_parser("track", help="log results to MLflow that it did not take at first")
    command.add_argument("--all", action="store_true", help="all results, as for another database or server")
    _results_option(command)
    command.set_defaults(run=study.track)

    command = groups.add_parser("ui", help="open the MLflow user interface")
    command.add_argument("--uri", help="sqlite:///FILE, or a server's address; default: the one that config.yaml names")
    command.add_argument("--port", type=port, default=5000, help="port of the page on this machine")
    command.set_defaults(run=study.ui)


def _add_theory(groups: Any) -> None:
    command = groups.add_parser("theory", help="what theorems say about a problem: constants, step sizes, bounds")
    _problem_options(command)
    command.add_argument("--clients", type=int, help=CLIENTS)
    command.add_argument("--local-steps", type=int, default=1, help="local steps K of a round")
    command.add_argument("--steps", type=int, default=4096, help="local steps T = rounds x K")
    command.add_argument("--json", action="store_true", help="print the rows as JSON")
    _directory_option(command)
    command.set_defaults(run=commands.theory)


def _add_cite(groups: Any) -> None:
    command = groups.add_parser("cite", help="BibTeX of algorithms, experiments or data sets")
    text = "an algorithm, an experiment, a data set or a key; default: the five papers"
    command.add_argument("names", nargs="*", metavar="name", help=text)
    command.set_defaults(run=commands.cite)


def _problem_options(command: Parser) -> None:
    text = "a kind that `fedatlas list problems` shows"
    command.add_argument("--problem", metavar="KIND", default="logistic", help=text)
    text = "a data set that `fedatlas data status` shows, or custom data, e.g. mine.csv,label=y,client=hospital"
    command.add_argument("--data", metavar="NAME|FILE[,NAME=VALUE...]", help=f"{text}; default: none")
    command.add_argument("--l2", metavar="X", type=float, help="weight of |x|^2 / 2; default: the problem's")
    text = "another problem option; repeatable"
    command.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help=text)
    text = "how data are split over clients, e.g. dirichlet,alpha=0.3; default: all clients draw from all data"
    command.add_argument("--partition", metavar="KIND[,NAME=VALUE...]", help=text)


def _results_option(command: Parser) -> None:
    text = (
        "folder of results, such as PREFIX/results of a module with a prefix; default: the one that config.yaml names"
    )
    command.add_argument("--results", metavar="FOLDER", help=text)


def _directory_option(command: Parser) -> None:
    command.add_argument("--directory", metavar="FOLDER", help="data directory; default: $FEDATLAS_DATA, or ./data")
