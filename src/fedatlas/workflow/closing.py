"""The summary at the end of a run of the workflow: what was made and where, the claims, warnings, what comes next."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.experiments.metadata import TableMeta
from fedatlas.experiments.result_files import read
from fedatlas.io import terminal
from fedatlas.publish.report import record, warnings
from fedatlas.results.claims.verdicts import NOT_TESTED
from fedatlas.workflow import times, verdict_files
from fedatlas.workflow.atlas import Atlas
from fedatlas.workflow.listing import duration

WIDTH = 80
MADE = ".venv/bin"  # where make installs
MOST = 12  # experiments that are listed one by one


def summary(atlas: Atlas, made: Sequence[str], experiments: Sequence[tuple[str, str]]) -> str:
    """The summary for people.

    made: paths of what was asked for. experiments: (size, name) of those behind it. What is not there, as a figure
    alone was asked for, is left out.
    """
    try:
        return "\n".join(_lines(atlas, [path for path in made if Path(path).exists()], list(experiments)))
    except UserError as error:  # a file of a run that is going on elsewhere, say
        return f"Warning   {error}"


def _lines(atlas: Atlas, made: list[str], experiments: list[tuple[str, str]]) -> Iterator[str]:
    folders = {(size, name): Path(atlas.folders.report(size, name)) for size, name in experiments}
    claims = {key: _claims(folder) for key, folder in folders.items() if (folder / "claims.csv").exists()}
    if claims:
        yield ""
        margin = max(len(f"{name} ({size})") for size, name in claims) + 2
        for (size, name), counts in list(claims.items())[:MOST]:
            yield terminal.beside(f"{name} ({size})".ljust(margin), _counted(counts), columns=WIDTH)
        if len(claims) > MOST:
            total = sum(claims.values(), Counter())
            yield terminal.beside(f"all {len(claims)}".ljust(margin), _counted(total), columns=WIDTH)
        yield ""
    for path in made:
        yield f"Made      {path}"
    if len(folders) == 1 and claims:
        yield f"Results   {next(iter(folders.values()))}: figures, table.csv, claims.csv"
    if claims and any((folder / "mlflow.json").exists() for folder in folders.values()):
        yield f"MLflow    {atlas.config['mlflow_uri']}: `{_ui()}` shows the runs"
    if warned := {key: _warnings(folders[key]) for key in claims}:
        several = {name: count for (_, name), count in warned.items() if count}
        text = ", ".join(f"{count} about {name}" for name, count in list(several.items())[:MOST])
        yield terminal.beside("Warnings  ", f"{text}; the report shows them" if several else "none", columns=WIDTH)
    if following := _next(atlas, claims):
        yield terminal.beside("Next      ", following, columns=WIDTH)


def _claims(folder: Path) -> "Counter[str]":
    return Counter(row["verdict"] for row in verdict_files.of_file(folder / "claims.csv"))


def _counted(counts: "Counter[str]") -> str:
    """How many claims have which verdict."""
    total = sum(counts.values())
    if not total:
        return "no claims"
    head = f"{total} claim{'s' if total > 1 else ''}"
    if len(counts) == 1:
        every = "all " if total > 1 and not counts[NOT_TESTED] else ""
        return f"{head}, {every}{next(iter(counts))}"
    return f"{head}: {', '.join(f'{count} {verdict}' for verdict, count in counts.most_common())}"


def _warnings(folder: Path) -> int:
    """How many warnings the report shows of an experiment."""
    if not (folder / "table.parquet").exists() or not (folder / record.FILE).exists():
        return 0
    table, meta = read(folder / "table.parquet")
    return len(warnings.warnings(record.About.read(folder / record.FILE), table, TableMeta.of(meta).data))


def _next(atlas: Atlas, claims: dict[tuple[str, str], "Counter[str]"]) -> str:
    """The command that tests claims which the sizes at hand do not."""
    known = times.known(atlas)
    for (size, name), counts in claims.items():
        larger = [one for one in atlas.files.document(name)["sizes"] if one != "smoke"] if size == "smoke" else []
        if counts[NOT_TESTED] and larger:
            took = duration(known.get((name, larger[0])))
            text = f"`{_command()} run {name} --size {larger[0]}` tests its claims"
            return text + (f" ({took} of a processor)" if took else "")
    return ""


def _ui() -> str:
    """The command that opens MLflow."""
    return "make ui" if "MAKELEVEL" in os.environ else "fedatlas ui"


def _command() -> str:
    """How the shell finds ``fedatlas``: a person who called make may not have it on the path."""
    return f"{MADE}/fedatlas" if "MAKELEVEL" in os.environ and Path(MADE).is_dir() else "fedatlas"
