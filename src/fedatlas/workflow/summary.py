"""The summary of a run: what was made, and which claims held."""

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.experiments.metadata import TableMeta
from fedatlas.experiments.result_files import read_meta, read_table
from fedatlas.io import terminal
from fedatlas.publish.report import facts, warnings
from fedatlas.publish.report.verdicts import read_verdicts
from fedatlas.results.claims.verdicts import NOT_TESTED
from fedatlas.workflow.experiment_files import NAME
from fedatlas.workflow.jobs import track
from fedatlas.workflow.study import Study

WIDTH = 80
MOST = 12  # experiments and files that are listed one by one


def experiment_rules(study: Study, rules: Collection[str], rename: Callable[[str], str] = str) -> list[str]:
    """Return the names of the experiments that get a rule of their own.

    Args:
        study: The study.
        rules: Names of all other rules.
        rename: Gives the name of a rule in the workflow that uses this one as a module.

    Raises:
        UserError: An experiment of the study is called like a rule.
    """
    for name, path in study.files.own.items():
        if rename(name) in rules:
            explanation = f"an experiment cannot be called {name}, as a rule of the workflow is called so"
            raise UserError(f"{path}: {explanation}; rename the file")
    return [name for name in study.files.paths if re.fullmatch(NAME, name) and rename(name) not in rules]


def verdicts(results: str | Path, name: str | None = None) -> list[dict[str, str]]:
    """Return the claims with verdicts in a folder of results, without repetition.

    Args:
        results: The folder.
        name: Name of the experiment whose claims are asked for; by default all.

    Raises:
        UserError: There are none.
    """
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for path in sorted(Path(results).glob(f"*/{name or '*'}/claims.csv")):
        for row in read_verdicts(path):
            rows.setdefault((row["experiment"], row["size"], row["claim"]), row)
    if not rows:
        raise UserError(f"no claims {f'of {name} ' if name else ''}under {results}/: run `snakemake --cores 2` first")
    return list(rows.values())


def summary(study: Study, files: Iterable[str]) -> str:
    """Return the summary: what was made, claims, warnings, and the command that comes next.

    Args:
        study: The study.
        files: Files that the targets of the call ask for. Missing ones are left out: a figure alone may be asked for.
    """
    paths = [path for path in sorted(map(Path, files)) if path.exists()]
    results, known = Path(study.folders.results), study.files.paths
    places = [path.relative_to(results).parts[:2] for path in paths if path.is_relative_to(results)]
    experiments = list(dict.fromkeys((place[0], place[1]) for place in places if place[1:] and place[1] in known))
    reports = [path for path in paths if path.name == "report.html"]
    level = min((len(path.parts) for path in reports), default=0)  # of a report over those of others, if there is one
    made = [str(path) for path in reports if len(path.parts) == level] or list(map(str, paths))
    try:
        return "\n".join(_lines(study, made, experiments))
    except UserError as error:  # for example, a file of a run that is going on elsewhere
        return f"Warning   {error}"


def _lines(study: Study, paths: list[str], experiments: list[tuple[str, str]]) -> Iterator[str]:
    folders = {(size, name): Path(study.folders.experiment(size, name)) for size, name in experiments}
    claims = {
        key: Counter(row["verdict"] for row in read_verdicts(folder / "claims.csv"))
        for key, folder in folders.items()
        if (folder / "claims.csv").exists()
    }
    if claims:
        yield ""
        margin = max(len(f"{name} ({size})") for size, name in claims) + 2
        for (size, name), counts in list(claims.items())[:MOST]:
            yield terminal.hanging_indent(f"{name} ({size})".ljust(margin), _count_words(counts), columns=WIDTH)
        if len(claims) > MOST:
            total = sum(claims.values(), Counter())
            yield terminal.hanging_indent(f"all {len(claims)}".ljust(margin), _count_words(total), columns=WIDTH)
        yield ""
    if len(paths) > MOST:
        yield f"Made      {len(paths)} files in {os.path.commonpath(paths)}"
    for path in paths if len(paths) <= MOST else ():
        yield f"Made      {path}"
        if path.endswith(".html"):  # terminals open the address on a click
            yield f"Open      {Path(path).resolve().as_uri()}"
    tables = [folder / "table.parquet" for folder in folders.values()]
    metas = [TableMeta.from_dict(read_meta(path)) for path in tables if path.exists()]
    if recorded := sum(meta.recorded for meta in metas):
        origin = f"{recorded} of {sum(len(meta.files) for meta in metas)} cells from the record"
        yield terminal.hanging_indent("Record    ", f"{origin}; `--config record=ignore` computes them", columns=WIDTH)
    for words in left_out(folders):
        yield terminal.hanging_indent("Left out  ", words, columns=WIDTH)
    results = Path(study.folders.results)
    if waiting := len({folder for _, folder in track.pending(results)}):
        words = "an experiment" if waiting == 1 else f"{waiting} experiments"
        yield f"MLflow    lacks {words}: `{track.COMMAND}` logs what is missing"
    elif claims and any((folder / track.RECEIPT).exists() for folder in (*folders.values(), results)):
        yield f"MLflow    {study.config['mlflow_uri']}: `fedatlas ui` shows the runs"
    if claims:
        counted = {name: count for size, name in claims if (count := _count_warnings(folders[size, name]))}
        text = ", ".join(f"{count} about {name}" for name, count in list(counted.items())[:MOST])
        text = f"{text}; the report shows them" if counted else "none"
        yield terminal.hanging_indent("Warnings  ", text, columns=WIDTH)
    for (size, name), counts in claims.items():
        larger = [key for key in study.files.document(name)["sizes"] if key != "smoke"] if size == "smoke" else []
        if counts[NOT_TESTED] and larger:
            yield f"Next      `fedatlas run {name} --size {larger[0]}` tests its claims"
            return


def left_out(folders: Mapping[tuple[str, str], Path]) -> Iterator[str]:
    """Yield what is to be said of the figures of each experiment that are left out because their data are not here.

    Args:
        folders: Folders of results by size and experiment.
    """
    for (size, name), folder in folders.items():
        about = facts.read_facts(folder / facts.FACTS_FILE) if (folder / facts.FACTS_FILE).exists() else None
        if about and (figures := list(about["left_out"])):
            command = f"fedatlas data fetch {' '.join(about['missing_data'])}"
            yield f"{', '.join(figures)} of {name} ({size}): `{command}` and the same command again draw them"


def _count_words(counts: "Counter[str]") -> str:
    """Say how many claims have which verdict."""
    total = sum(counts.values())
    if not total:
        return "no claims"
    head = f"{total} claim{'s' if total > 1 else ''}"
    if len(counts) == 1:
        return f"{head}, {'all ' if total > 1 and not counts[NOT_TESTED] else ''}{next(iter(counts))}"
    return f"{head}: {', '.join(f'{count} {verdict}' for verdict, count in counts.most_common())}"


def _count_warnings(folder: Path) -> int:
    """Return the number of warnings that the report shows of an experiment."""
    if not (folder / "table.parquet").exists() or not (folder / facts.FACTS_FILE).exists():
        return 0
    table, meta = read_table(folder / "table.parquet")
    written = facts.read_facts(folder / facts.FACTS_FILE)
    return len(warnings.find_warnings(written, table.to_pylist(), TableMeta.from_dict(meta)))
