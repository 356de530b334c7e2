"""What the subcommands of ``fedatlas`` do; each takes the parsed arguments. Heavy imports wait for the command."""

import dataclasses
import functools
import json
import math
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from fedatlas.errors import UserError
from fedatlas.io import terminal
from fedatlas.registry import extensions


def list_everything(a: Namespace) -> None:
    """Print names of what the atlas holds, a line each; of experiments alone, also what each re-runs and takes."""
    from fedatlas.cli.overview import SECTIONS, as_json, lines, overview
    from fedatlas.errors import lookup

    if a.what is not None:
        lookup("section", a.what, dict.fromkeys(SECTIONS))
    if a.json:
        _print_json(as_json(a.what))
    elif a.what == "experiments":
        from fedatlas.workflow import listing
        from fedatlas.workflow.project import here

        print(*listing.lines(listing.listed(here())), sep="\n")
    else:
        print(*lines(overview(a.what)), sep="\n")


def show(a: Namespace) -> None:
    """Print what is declared of a name."""
    from fedatlas.cli.descriptions import show as shown

    print(shown(a.name))


# Keys of a specification that options of the command line set, so that --set, --option and --partition may not.
OF_TRAIN = {
    "algorithm": "--algorithm", "clients": "--clients", "rounds": "--rounds", "batch": "--batch", "seed": "--seed",
    "state": "--state", "threads": "--threads", "local_steps": "--local-steps", "local_epochs": "--local-epochs",
    "eval_rounds": "--eval-rounds", "directory": "--directory", "optimum": "--no-optimum", "problem": "--problem",
}  # fmt: skip
OF_PROBLEM = {"kind": "--problem", "data": "--data", "l2": "--l2", "partition": "--partition"}
OF_KIND = {"kind": "the name before the first comma"}
OF_DATA = {"file": "the path before the first comma"}
CLIENTS = 10  # where nothing is said


def train(a: Namespace) -> None:
    """One run."""
    from fedatlas.api.train import summary, train
    from fedatlas.cli import exports

    _check_extensions()
    problem = _problem(a)
    options = {"clients": _clients(a, problem), "rounds": a.rounds, "batch": a.batch or None, "state": a.state}
    options |= {"local_steps": a.local_steps} if a.local_epochs is None else {"local_epochs": a.local_epochs}
    given = {}
    if a.active is not None:
        options["participation"], given["participation"] = {"kind": "uniform", "count": a.active}, "--active"
    for name in ("participation", "schedule"):
        if (text := getattr(a, name)) is not None:
            options[name], given[name] = _kind(f"--{name}", text), f"--{name}"
    if a.eval_rounds is not None:
        options["eval_rounds"] = a.eval_rounds
    options |= _pairs("--set", a.set, OF_TRAIN | given)
    if a.out is not None:
        exports.check(a.out)
    if a.json and a.out == exports.STDOUT:
        raise UserError("--json and --out - both write to standard output: give one of them")
    with terminal.shown("training", a.rounds, "round") as bar:
        frame = train(
            a.algorithm,
            problem,
            seed=a.seed,
            directory=a.directory,
            optimum=not a.no_optimum,
            threads=a.threads,
            progress=functools.partial(_trained, bar),
            say=terminal.printer(bar, sys.stderr),
            **options,
        )
    result = summary(frame)
    if a.json:
        _print_json(result)
    else:
        _print_summary(a.algorithm, result, sys.stderr if a.out == exports.STDOUT else sys.stdout)
    if a.out is not None:  # at last: if the file cannot be written, the results are on the screen
        exports.write(a.out, frame)


def _print_json(value: Any) -> None:
    print(json.dumps(_finite(value), default=str, allow_nan=False))


def _finite(value: Any) -> Any:
    """JSON types with null in place of numbers that JSON does not know: infinities and NaN."""
    if isinstance(value, Mapping):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _print_summary(algorithm: str, result: dict[str, Any], to: TextIO) -> None:
    print(f"{algorithm}: {result['status']} after {result['costs']['rounds']} rounds", file=to)
    for name, value in result["final"].items():
        best = result["best"].get(name)
        shown = f" best {best['value']:.6g} at round {best['round']}" if best else ""
        print(f"  {name:<15} {value:<12.6g}{shown}", file=to)


def data_fetch(a: Namespace) -> None:
    """Fetch and prepare data sets."""
    from fedatlas.data.sources import info
    from fedatlas.data.store import prepare

    specs = list(map(_data, a.names))
    for spec in specs:
        info(spec, a.directory)
    with terminal.shown("preparing data", len(specs) if len(specs) > 1 else None, "set") as bar:
        say = terminal.printer(bar)
        for name, spec in zip(a.names, specs, strict=True):
            say(f"{name}: {prepare(spec, a.directory, a.mirror)}")
            bar.update()


def data_status(a: Namespace) -> None:
    """Print the state of each data set."""
    from fedatlas.data.store import status

    rows = status(a.directory, a.mirror)
    if a.json:
        _print_json([dataclasses.asdict(row) for row in rows])
        return
    for row in rows:
        size = f"{row.bytes / 1e6:,.1f} MB" if row.bytes else ""
        print(f"{row.name:<16} {row.state:<10} {size:>12}  {'lossy' if row.lossy else ''}")


def data_verify(a: Namespace) -> None:
    """Check data sets."""
    from fedatlas.data.store import status, verify

    names = a.names or [row.name for row in status(a.directory) if row.state == "prepared"]
    with terminal.shown("verifying data", len(names) if len(names) > 1 else None, "set") as bar:
        say = terminal.printer(bar)
        for name in names:
            verify(name, a.directory)
            say(f"{name}: verified")
            bar.update()


def theory(a: Namespace) -> None:
    """What theorems say about a problem and a setting."""
    from fedatlas.errors import explain_overflow
    from fedatlas.theory.evaluation import evaluate_theorems

    _check_extensions()
    problem = _problem(a)
    with terminal.shown("computing constants and optima") as bar, explain_overflow("theory"):
        show = None if a.json else terminal.printer(bar)
        rows = evaluate_theorems(problem, _clients(a, problem), a.local_steps, a.steps, a.directory, show=show)
    if a.json:
        _print_json(rows)


def check(a: Namespace) -> int:
    """Check algorithms. Returns 1 if a check failed, else 0."""
    from fedatlas.testing import FAILED, command

    given = _pairs("--set", a.set, {})
    if not a.json:
        return int(command.check(a.names, given, a.only) > 0)
    found = command.as_json(a.names, given, a.only)
    _print_json(found)
    return int(any(one["status"] == FAILED for algorithm in found for one in algorithm["checks"]))


def claims(a: Namespace) -> None:
    """Print the claims that results hold verdicts on."""
    from fedatlas.workflow.project import here
    from fedatlas.workflow.verdict_files import verdicts

    rows = verdicts(a.results or here().folders.results)
    if a.json:
        _print_json(rows)
        return
    margin = max(len(row["verdict"]) for row in rows) + 2
    for row in rows:
        claim = f"{row['experiment']} ({row['size']}): {row['text']} [{row['source']}]"
        print(terminal.beside(row["verdict"], claim, margin))
        seeds = f" over {row['seeds']} seeds" if row["seeds"] else ""
        told = {"paper": row["paper"], "here": row["ours"] + seeds, "reading": row["reading"]}
        if numbers := "; ".join(f"{name}: {text}" for name, text in told.items() if text.strip()):
            print(terminal.beside("", numbers, margin))


def _check_extensions() -> None:
    """Refuse a kind that has the name of another: of two, a command would take that of the package without a word."""
    if extensions.modules():
        from fedatlas.cli.overview import check_extensions

        check_extensions()


def _problem(a: Namespace) -> dict[str, Any]:
    """The problem that options of the command line name."""
    problem = {"kind": a.problem, **_pairs("--option", a.option, OF_PROBLEM)}
    problem |= {} if a.data is None else {"data": _data(a.data)}
    problem |= {} if a.l2 is None else {"l2": a.l2}
    if a.partition is not None:
        problem["partition"] = _kind("--partition", a.partition)
    return problem


def _kind(option: str, text: str) -> dict[str, Any]:
    """A kind with its options, from KIND[,NAME=VALUE...]."""
    kind, *options = _parts(text)
    return {"kind": kind, **_pairs(option, options, OF_KIND)}


def _parts(text: str) -> list[str]:
    """The parts between commas; those inside brackets and braces separate values of one list or mapping."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _data(text: str) -> Any:
    """A data set as the command line names it: by its name, or as a mapping of own data.

    A mapping is FILE,NAME=VALUE,... or NAME=VALUE,... or in YAML, in braces. A file that is there needs no options.
    """
    from fedatlas.data.sources import names
    from fedatlas.io.yaml import parse

    if text.startswith("{"):
        return parse(text, "--data")
    first, *options = _parts(text)
    if "=" in first:
        return _pairs("--data", [first, *options], {})
    plain = not options and (text in names() or not os.path.exists(text))
    return text if plain else {"file": first, **_pairs("--data", options, OF_DATA)}


def _clients(a: Namespace, problem: Mapping[str, Any]) -> int:
    """The number of clients: as given, that of the clients of the data where the partition is by them, or CLIENTS."""
    from fedatlas.federation.problems import interactive

    return a.clients if a.clients is not None else interactive.client_count(problem, a.directory) or CLIENTS


def _pairs(option: str, items: Iterable[str], taken: Mapping[str, str]) -> dict[str, Any]:
    """NAME=VALUE items of an option as a dict, values read as YAML. taken: what sets names that may not be given."""
    from fedatlas.io.yaml import parse

    found = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise UserError(f"{option}: {item!r} is not of the form NAME=VALUE")
        if name in taken:
            raise UserError(f"{option} cannot set {name}: {taken[name]} does")
        number = _number(value)
        try:
            found[name] = parse(value, name) if number is None else number
        except UserError:
            raise UserError(f"{option}: {name}: {value!r} is not a YAML value") from None
    return found


def _number(text: str) -> float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def _trained(bar: Any, row: Mapping[str, Any]) -> None:
    """Show how far a run is, with the latest metrics."""
    shown = {name: f"{row[name]:.4g}" for name in ("loss", "suboptimality", "test_accuracy") if name in row}
    bar.set_postfix(shown, refresh=False)
    bar.update(row["round"] - bar.n)
