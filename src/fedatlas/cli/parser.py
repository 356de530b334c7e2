"""The subcommands and options of ``fedatlas``. The help of each option says its default.

Each names the function that runs it, by module and name in this package, so that a command loads its own module alone.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from fedatlas.errors import UserError
from fedatlas.experiments import SIZES
from fedatlas.io.files import read_json

SIZE = "smoke, laptop or paper; default: the one that config.yaml names, or laptop"
DEFAULT_CLIENTS = 10


class Parser(argparse.ArgumentParser):
    """A parser that raises UserError: one sentence in place of a screen of usage.

    Options have no abbreviations: an abbreviation would change its meaning when an option is added.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Raise UserError that says how to get help."""
        raise UserError(f"{message.removeprefix('argument ')} (`{self.prog} --help` tells more)")


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
    _add_record(groups)
    _add_tracking(groups)
    _add_theory(groups)
    _add_cite(groups)
    _add_job(groups)
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
    command.set_defaults(run="study:init")

    text = "make an experiment: report, figures, claims, MLflow runs"
    command = groups.add_parser("run", help=text, epilog="What stands after -- is given to snakemake.")
    command.add_argument("name", help="an experiment that `fedatlas list experiments` shows")
    _add_size(command, SIZE)
    _add_cores(command)
    text = "only show what would be made, and why, and how much time and memory it takes"
    command.add_argument("-n", "--dry-run", action="store_true", help=text)
    command.add_argument("--case", help="make the run files of this case alone; default: all results")
    command.set_defaults(run="study:run")

    text = "your algorithm beside those of an experiment, tuned alike"
    command = groups.add_parser("compare", help=text)
    text = "an algorithm of the study or of the atlas, or a CSV file of runs that another framework made"
    command.add_argument("names", nargs="+", metavar="algorithm", help=text)
    _add_suite(command, "the experiment with whose entries they are compared")
    _add_size(command, SIZE)
    command.add_argument("--quick", action="store_true", help="a third of the problems, five scoring seeds")
    command.add_argument("--compute", action="store_true", help="train what the record lacks of the other entries")
    _add_pairs(command, "--set", "a hyper-parameter that is fixed and not tuned")
    text = "a range in which a hyper-parameter is tuned, e.g. lr=[0.001,1]; default: that of its declaration"
    _add_pairs(command, "--search", text, "NAME=[LOW,HIGH]")
    _add_cores(command)
    command.add_argument("-n", "--dry-run", action="store_true", help="only say what would be trained, and how long")
    command.set_defaults(run="study:compare")

    text = "write the page that answers which method is good when"
    command = groups.add_parser("guide", help=text)
    _add_suite(command, "the suite, an experiment whose problems are cases")
    _add_size(command, "default: the largest that has a record")
    text = "where to write; default: which-method.html"
    command.add_argument("--out", default="which-method.html", metavar="FILE.html", help=text)
    command.set_defaults(run="study:guide")


def _add_names(groups: Any) -> None:
    command = groups.add_parser("list", help="names of all that the atlas holds")
    text = "algorithms, problems, figures, data, experiments ...; default: all"
    command.add_argument("what", nargs="?", metavar="section", help=text)
    command.add_argument("--json", action="store_true", help="print one JSON object: texts by section and name")
    command.set_defaults(run="commands:list_names")

    command = groups.add_parser("show", help="all about one name; with --claims, which claims held")
    text = "a name that `fedatlas list` shows; with --claims an experiment, default: all"
    command.add_argument("name", nargs="?", help=text)
    command.add_argument("--claims", action="store_true", help="show the papers' claims, and whether they held here")
    _add_results(command)
    command.set_defaults(run="commands:show")


def _add_train(groups: Any) -> None:
    command = groups.add_parser("train", help="one run from the shell")
    text = "a name that `fedatlas list algorithms` shows"
    command.add_argument("--algorithm", metavar="NAME", required=True, help=text)
    text = "a hyper-parameter, or an option of the setting that has no option here, e.g. sampling=reshuffling"
    _add_pairs(command, "--set", text)
    _problem_options(command)
    text = "rounds R of communication; default: 100"
    command.add_argument("--rounds", type=int, metavar="N", default=100, help=text)
    text = "samples of a local step, 0 for full local gradients; default: 1"
    command.add_argument("--batch", type=int, metavar="N", default=1, help=text)
    text = "seed of samples, participation and start; default: 0"
    command.add_argument("--seed", type=int, metavar="N", default=0, help=text)
    command.add_argument("--csv", action="store_true", help="print the rows as CSV")
    command.set_defaults(run="commands:train")


def _add_check(groups: Any) -> None:
    text = "test whether algorithms do what their papers say"
    command = groups.add_parser("check", help=text)
    text = "an algorithm; default: all that are not the atlas's"
    command.add_argument("names", nargs="*", metavar="algorithm", help=text)
    _add_pairs(command, "--set", "a hyper-parameter")
    _add_pairs(command, "--only", "conformance test to run; default: all", "CHECK")
    command.add_argument("--json", action="store_true", help="print the table as JSON")
    command.set_defaults(run="commands:check")


def _add_data(groups: Any) -> None:
    data = groups.add_parser("data", help="data sets: fetch, status").add_subparsers(required=True, metavar="command")
    command = data.add_parser("fetch", help="download data sets or copy them from a mirror, verify and prepare them")
    text = "a data set, or custom data as after --data of train"
    command.add_argument("names", nargs="+", metavar="name", help=text)
    command.set_defaults(run="commands:data_fetch")

    command = data.add_parser("status", help="which data sets are prepared, which are raw files, which are missing")
    command.set_defaults(run="commands:data_status")


def _add_record(groups: Any) -> None:
    record = groups.add_parser("record", help="results that come with fedatlas: list, verify and extend them")
    steps = record.add_subparsers(required=True, metavar="step")
    command = steps.add_parser("list", help="experiments that have a record, and how much of each was verified")
    command.set_defaults(run="record:list_records")
    text = "compute runs again, drawn at random, the cheapest experiments first, and compare"
    command = _add_step(steps, "verify", text, optional=True)
    text = "runs of each experiment; default: until all cells are verified"
    command.add_argument("--runs", type=int, metavar="N", help=text)
    text = "time after which no further run begins; default: no limit"
    command.add_argument("--minutes", type=float, default=float("inf"), help=text)
    command.add_argument("--all", action="store_true", help="also runs of cells that are verified, up to a limit")
    command.set_defaults(run="record:verify")
    command = _add_step(steps, "add", "take results of this folder into the record, after runs were computed again")
    text = "runs that are computed again first; default: one of each new cell at least; with 0 nothing is verified"
    command.add_argument("--runs", type=int, metavar="N", help=text)
    command.set_defaults(run="record:add_results")
    command = steps.add_parser("missing", help="experiments of which the record lacks cells, with their hours")
    command.set_defaults(run="record:missing")


def _add_step(steps: Any, step: str, text: str, optional: bool = False) -> Parser:
    command: Parser = steps.add_parser(step, help=text)
    words = "an experiment" + ("; default: all" if optional else "")
    command.add_argument("name", nargs="?" if optional else None, help=words)
    _add_size(command, "default: the one that has a record")
    return command


def _add_job(groups: Any) -> None:
    """Add the steps of the workflow, which rules call, and help does not show."""
    steps = groups.add_parser("job").add_subparsers(required=True, metavar="step")
    step = steps.add_parser("run")
    step.add_argument("spec", type=json_file)
    step.add_argument("out")
    step.add_argument("--threads", type=int, metavar="N", default=1, help="cores of the job; default: 1")
    step.set_defaults(run="commands:compute_cell")
    arguments: dict[str, tuple[str, ...]] = {
        "partition": ("spec", "out"),
        "optimum": ("spec", "out"),
        "table": ("spec", "folder", "runs"),
        "figure": ("spec", "folder", "outputs"),
        "figure_table": ("spec", "folder", "out"),
        "claims": ("spec", "folder", "out"),
        "interim_analysis": ("spec", "folder", "out", "runs"),
        "track": ("out", "uri", "folders"),
        "report": ("out", "folders"),
    }
    for name, positional in arguments.items():
        step = steps.add_parser(name)
        for argument in positional:
            nargs = "+" if argument in ("runs", "outputs", "folders") else None
            step.add_argument(argument, nargs=nargs, type=json_file if argument == "spec" else str)
        if name == "report":
            step.add_argument("--gallery", nargs="*", default=[], help="claims.csv and pictures of it; default: none")
            step.add_argument("--study", default="fedatlas", help="title of the study; default: fedatlas")
        step.set_defaults(run="commands:make", step=name)


def _add_tracking(groups: Any) -> None:
    command = groups.add_parser("track", help="log results to MLflow that it did not take at first")
    command.add_argument("--all", action="store_true", help="all results, as for another database or server")
    _add_results(command)
    command.set_defaults(run="study:track")

    command = groups.add_parser("ui", help="open the MLflow user interface")
    _add_results(command)
    text = "port of the page on this machine; default: 5000"
    command.add_argument("--port", type=int, metavar="N", default=5000, help=text)
    command.set_defaults(run="study:ui")


def _add_theory(groups: Any) -> None:
    command = groups.add_parser("theory", help="what theorems say about a problem: constants, step sizes, bounds")
    _problem_options(command)
    text = "local steps T = rounds x K; default: 4096"
    command.add_argument("--steps", type=int, metavar="N", default=4096, help=text)
    command.set_defaults(run="commands:theory")


def _add_cite(groups: Any) -> None:
    command = groups.add_parser("cite", help="BibTeX of algorithms, experiments or data sets")
    text = "an algorithm, an experiment, a data set or a key; default: the five papers"
    command.add_argument("names", nargs="*", metavar="name", help=text)
    command.set_defaults(run="commands:cite")


def _problem_options(command: Parser) -> None:
    text = "a kind that `fedatlas list problems` shows; default: logistic"
    command.add_argument("--problem", metavar="KIND", default="logistic", help=text)
    text = "a data set that `fedatlas data status` shows, or custom data, e.g. mine.csv,label=y,client=hospital"
    command.add_argument("--data", metavar="NAME|FILE[,NAME=VALUE...]", help=f"{text}; default: none")
    command.add_argument("--l2", metavar="X", type=float, help="weight of |x|^2 / 2; default: the problem's")
    _add_pairs(command, "--option", "another problem option")
    text = "how data are split over clients, e.g. dirichlet,alpha=0.3; default: all clients draw from all data"
    command.add_argument("--partition", metavar="KIND[,NAME=VALUE...]", help=text)
    text = f"number of clients M; default: {DEFAULT_CLIENTS}, or those of the data with --partition natural"
    command.add_argument("--clients", type=int, metavar="N", help=text)
    command.add_argument("--local-steps", type=int, metavar="N", default=1, help="local steps K of a round; default: 1")


def _add_size(command: Parser, text: str) -> None:
    command.add_argument("--size", choices=SIZES, metavar="size", help=text)


def _add_results(command: Parser) -> None:
    text = "folder of results, such as that of a module; default: the one that config.yaml names"
    command.add_argument("--results", metavar="FOLDER", help=text)


def _add_cores(command: Parser) -> None:
    command.add_argument("--cores", type=cores, default="all", metavar="N", help="number of cores; default: all")


def _add_suite(command: Parser, text: str) -> None:
    command.add_argument("--on", default="landscape", metavar="experiment", help=f"{text}; default: landscape")


def _add_pairs(command: Parser, name: str, text: str, metavar: str = "NAME=VALUE") -> None:
    command.add_argument(name, action="append", default=[], metavar=metavar, help=f"{text}; repeatable")


def split_passed(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words of a command, and those after ``--`` that ``fedatlas run`` passes to another program."""
    position = words.index("--") if words[:1] == ["run"] and "--" in words else len(words)
    return list(words[:position]), list(words[position + 1 :])


def cores(text: str) -> str:
    """Check a number of cores, or ``all``."""
    if text != "all" and int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number of cores; give a whole number from 1, or all")
    return text


def json_file(path: str) -> Any:
    """Read a JSON file, or standard input where its name is ``-``."""
    return json.load(sys.stdin) if path == "-" else read_json(path)
