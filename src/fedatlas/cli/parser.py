"""The subcommands and options of ``fedatlas``. Every option has help that says its default."""

import argparse
from typing import Any

from fedatlas.cli import commands, completion, jobs, study
from fedatlas.cli.arguments import Parser, cores, number, port, whole

SET = "a hyper-parameter, or an option of the setting that has no option here, such as sampling; repeatable"
CLIENTS = f"number of clients M; default: {commands.CLIENTS}, or those of the data with --partition natural"
OUT = (
    "write the rows: into FILE.parquet with the specification, into FILE.csv, or with - as CSV to standard output; "
    "only a file that this command wrote is replaced; default: none"
)
SIZES = ("smoke", "laptop", "paper")


def parser() -> Parser:
    """The argument parser."""
    top = Parser(prog="fedatlas", description="An executable atlas of federated optimisation.")
    what, none = "print the version and exit", argparse.SUPPRESS  # jobs take all that the arguments hold
    top.add_argument("--version", action=_Version, nargs=0, dest=none, default=none, help=what)
    groups = top.add_subparsers(required=True, metavar="command")
    _about_the_atlas(groups)
    _about_studies(groups)
    _train(groups)
    _data(groups)
    _theory_and_checks(groups)
    jobs.add(groups.add_parser("job", help="a step of the workflow, as its rules call it"), _directory)
    return top


class _Version(argparse.Action):
    """Prints the version of the installed package."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"fedatlas {version('fedatlas')}")
        parser.exit()


def _about_the_atlas(groups: Any) -> None:
    one = groups.add_parser("list", help="names of all that the atlas holds, or of one section")
    what = "algorithms, problems, figures, data, experiments ...; default: all"
    _completed(one.add_argument("what", nargs="?", metavar="section", help=what), completion.sections)
    one.add_argument("--json", action="store_true", help="print one JSON object, with a list for each section")
    one.set_defaults(run=commands.list_everything)

    what = "all that is declared of an algorithm, a problem, an experiment, a data set, a figure, a paper ..."
    one = groups.add_parser("show", help=what)
    _completed(
        one.add_argument("name", help="a name that `fedatlas list` shows, or a key of a paper"), completion.shown
    )
    one.set_defaults(run=commands.show)

    one = groups.add_parser("cite", help="BibTeX of algorithms, experiments or data sets")
    what = "an algorithm, an experiment, a data set or a key; default: the five papers"
    _completed(one.add_argument("names", nargs="*", metavar="name", help=what), completion.shown)
    one.set_defaults(run=study.cite)

    one = groups.add_parser("completion", help="print the code that completes the words of this command in a shell")
    one.add_argument("shell", choices=completion.SHELLS, metavar="shell", help=", ".join(completion.SHELLS))
    one.set_defaults(run=completion.print_code)


def _about_studies(groups: Any) -> None:
    one = groups.add_parser("init", help="write a new study: a folder of your own that runs at once")
    one.add_argument("folder", metavar="name", help="name of the new folder")
    one.set_defaults(run=study.init)

    what = "make an experiment of this study or of the atlas: report, claims, MLflow runs"
    one = groups.add_parser("run", help=what, epilog="What stands after -- is given to snakemake.")
    what = "an experiment that `fedatlas list experiments` shows"
    _completed(one.add_argument("name", help=what), completion.experiments)
    what = "smoke, laptop or paper; default: the one that config.yaml names, or laptop"
    one.add_argument("--size", choices=SIZES, metavar="size", help=what)
    one.add_argument("--cores", type=cores, default="all", help="number of cores")
    one.add_argument("-n", "--dry-run", action="store_true", help="only show what would be made, and why")
    one.set_defaults(run=study.run)

    one = groups.add_parser("claims", help="the papers' claims, and whether they held")
    _results(one)
    one.add_argument("--json", action="store_true", help="print a JSON list of the claims")
    one.set_defaults(run=commands.claims)

    what = "write what a paper needs of an experiment: figures, tables and numbers for TeX, and BibTeX"
    one = groups.add_parser("paper", help=what)
    what = "an experiment that `fedatlas list experiments` shows, with finished results"
    _completed(one.add_argument("name", help=what), completion.experiments)
    what = "smoke, laptop or paper; default: the one that config.yaml names, or laptop"
    one.add_argument("--size", choices=SIZES, metavar="size", help=what)
    one.add_argument("--out", metavar="FOLDER", help="where to write; default: paper/NAME")
    one.add_argument("--width", metavar="INCHES", type=number, default=3.25, help="width of a column, in inches")
    one.add_argument("--points", metavar="X", type=number, default=8.0, help="size of the letters in figures")
    fonts = "cm: Computer Modern, times: like Times (STIX), sans: without serifs"
    one.add_argument("--fonts", choices=["cm", "times", "sans"], default="cm", metavar="FONTS", help=fonts)
    _directory(one)
    one.set_defaults(run=study.paper)

    what = "write docs/gallery.md: new entries from results that are there, the committed ones of all others"
    one = groups.add_parser("gallery", help=what)
    _directory(one)
    one.set_defaults(run=study.gallery)

    one = groups.add_parser("clean", help="remove results of old code and half-written files")
    one.add_argument("--dry-run", action="store_true", help="print what would be removed, and remove nothing")
    one.add_argument("--unfinished", action="store_true", help="also what interrupted jobs would continue from")
    one.add_argument("--prepared", action="store_true", help="also prepared data whose raw files are there")
    _results(one)
    _directory(one)
    one.set_defaults(run=study.clean)

    one = groups.add_parser("ui", help="open the MLflow user interface")
    one.add_argument("--uri", help="sqlite:///FILE, or a server's address; default: the one that config.yaml names")
    one.add_argument("--port", type=port, default=5000, help="port of the page on this machine")
    one.set_defaults(run=study.ui)


def _train(groups: Any) -> None:
    one = groups.add_parser("train", help="one run from the shell")
    what = "a name that `fedatlas list algorithms` shows"
    _completed(one.add_argument("--algorithm", metavar="NAME", required=True, help=what), completion.of("algorithms"))
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=SET)
    _problem(one)
    one.add_argument("--clients", type=whole, help=CLIENTS)
    who = one.add_mutually_exclusive_group()
    who.add_argument("--active", type=whole, help="clients drawn uniformly in each round; default: all")
    what = "which clients take part in a round, e.g. bernoulli,p=0.5; default: full"
    action = who.add_argument("--participation", metavar="KIND[,NAME=VALUE...]", help=what)
    _completed(action, completion.of("participation"))
    what = "factor on the step size in each round, e.g. exponential,decay=0.99; default: constant"
    action = one.add_argument("--schedule", metavar="KIND[,NAME=VALUE...]", help=what)
    _completed(action, completion.of("schedules"))
    local = one.add_mutually_exclusive_group()
    local.add_argument("--local-steps", type=whole, default=1, help="local steps K of a round")
    local.add_argument("--local-epochs", type=whole, help="local epochs E of a round; default: local steps are counted")
    one.add_argument("--rounds", type=whole, default=100, help="rounds R of communication")
    one.add_argument("--batch", type=whole, default=1, help="samples of a local step; 0: full local gradients")
    what = "rounds between two evaluations; default: a hundredth of all rounds"
    one.add_argument("--eval-rounds", type=whole, help=what)
    one.add_argument("--seed", type=whole, default=0, help="seed of samples, participation and start")
    one.add_argument("--threads", type=whole, default=1, help="blocks of clients that are computed at once")
    one.add_argument(
        "--state",
        metavar="PLACE",
        default="memory",
        help="where client states are kept: memory, or disk (under TMPDIR)",
    )
    one.add_argument("--no-optimum", action="store_true", help="do not solve for F* first")
    one.add_argument("--out", metavar="FILE", help=OUT)
    one.add_argument("--json", action="store_true", help="print one JSON object: final, best, costs, status")
    _directory(one)
    one.set_defaults(run=commands.train)


def _data(groups: Any) -> None:
    data = groups.add_parser("data", help="data sets: fetch, status, verify").add_subparsers(
        required=True, metavar="command"
    )
    mirror = "folder or URL asked first; repeatable; default: those of $FEDATLAS_DATA_MIRRORS"
    one = data.add_parser("fetch", help="download data sets or copy them from a mirror, verify and prepare them")
    what = "a data set, or own data as after --data of train"
    _completed(one.add_argument("names", nargs="+", metavar="name", help=what), completion.of("data"))
    one.add_argument("--mirror", action="append", default=[], metavar="FOLDER|URL", help=mirror)
    _directory(one)
    one.set_defaults(run=commands.data_fetch)

    one = data.add_parser("status", help="which data sets are prepared, which are raw files, which are missing")
    one.add_argument("--mirror", action="append", default=[], metavar="FOLDER|URL", help=mirror)
    one.add_argument("--json", action="store_true", help="print a JSON list of the data sets")
    _directory(one)
    one.set_defaults(run=commands.data_status)

    one = data.add_parser("verify", help="check files against sizes, checksums, rows and classes")
    what = "a data set; default: all that are prepared"
    _completed(one.add_argument("names", nargs="*", metavar="name", help=what), completion.of("data"))
    _directory(one)
    one.set_defaults(run=commands.data_verify)


def _theory_and_checks(groups: Any) -> None:
    one = groups.add_parser("theory", help="constants of a problem, and the hyper-parameters and bounds of theorems")
    _problem(one)
    one.add_argument("--clients", type=whole, help=CLIENTS)
    one.add_argument("--local-steps", type=whole, default=1, help="local steps K of a round")
    one.add_argument("--steps", type=whole, default=4096, help="local steps T = rounds x K")
    one.add_argument("--json", action="store_true", help="print the rows as JSON")
    _directory(one)
    one.set_defaults(run=commands.theory)

    what = "what every algorithm must pass, checked of one's own or of those that are named"
    one = groups.add_parser("check", help=what)
    what = "an algorithm; default: all that are not the atlas's"
    action = one.add_argument("names", nargs="*", metavar="algorithm", help=what)
    _completed(action, completion.of("algorithms"))
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a hyper-parameter; repeatable")
    what = "a check of the table; repeatable; default: all"
    _completed(one.add_argument("--only", action="append", default=[], metavar="CHECK", help=what), completion.checks)
    one.add_argument("--json", action="store_true", help="print the table as JSON")
    one.set_defaults(run=commands.check)


def _problem(command: Parser) -> None:
    what = "a kind that `fedatlas list problems` shows"
    _completed(
        command.add_argument("--problem", metavar="KIND", default="logistic", help=what), completion.of("problems")
    )
    own = "a data set that `fedatlas data status` shows, or own data, e.g. mine.csv,label=y,client=hospital"
    action = command.add_argument("--data", metavar="NAME|FILE[,NAME=VALUE...]", help=f"{own}; default: none")
    _completed(action, completion.of("data"))
    command.add_argument("--l2", metavar="X", type=number, help="weight of |x|^2 / 2; default: the problem's")
    what = "another problem option; repeatable"
    command.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help=what)
    what = "how data are split over clients, e.g. dirichlet,alpha=0.3; default: all clients draw from all data"
    action = command.add_argument("--partition", metavar="KIND[,NAME=VALUE...]", help=what)
    _completed(action, completion.of("partitions"))


def _results(command: Parser) -> None:
    what = (
        "folder of results, such as PREFIX/results of a module with a prefix; default: the one that config.yaml names"
    )
    command.add_argument("--results", metavar="FOLDER", help=what)


def _directory(command: Parser) -> None:
    command.add_argument("--directory", metavar="FOLDER", help="data directory; default: $FEDATLAS_DATA, or ./data")


def _completed(action: argparse.Action, names: completion.Names) -> None:
    """Let the shell complete the value of an option."""
    action.completer = completion.starting(names)  # type: ignore[attr-defined]
