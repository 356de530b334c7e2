"""The experiment of a comparison: what is compared on which problems, and what is left out for which reason."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from fedatlas.data.store import find_obstacle
from fedatlas.errors import UserError
from fedatlas.experiments import labels
from fedatlas.experiments.cells import CASE, Cell
from fedatlas.experiments.experiment_view import ExperimentView
from fedatlas.federation import algorithms
from fedatlas.io import terminal
from fedatlas.io.files import update_text
from fedatlas.io.text import require_file
from fedatlas.records.lookup import Records
from fedatlas.records.record import Restoration
from fedatlas.workflow.comparison import Comparison, Request, run_path
from fedatlas.workflow.study import COMPARISONS, Study

QUICK_SHARE, QUICK_SEEDS = 3, 5  # of a quick comparison: one problem of so many, and seeds
FIGURES: dict[str, dict[str, Any]] = {
    "profile": {
        "kind": "performance_profile",
        "caption": "Which share of the problems each algorithm solves within a multiple of the best one's rounds.",
    },
    "loss_to_best": {
        "kind": "loss_to_best",
        "scores": True,
        "caption": "What each algorithm ends at, against the best one on each problem.",
    },
}


def prepare(study: Study, request: Request, compute: bool = False, fetch: bool = True) -> Comparison:
    """Write the experiment of a comparison, and find what the record gives of it.

    Entries that the record lacks are left out, and so are cases of which it has nothing, unless all is computed. Cases
    whose data cannot be had are left out where something is trained on them.

    Args:
        study: The study.
        request: What is compared.
        compute: Whether to train what the record lacks of the other entries.
        fetch: Whether to fetch the data; else servers are only asked whether they have them.

    Raises:
        UserError: A name is unknown, the experiment has no such size, an algorithm cannot be trained, or nothing is
            left to compare with.
    """
    study.check_name(request.on)
    for path in request.runs:
        require_file(path)
    view = study.view(request.size, request.on)
    request = replace(request, names=_resolve_names(request.names, view))
    if view.analyses:
        raise UserError(f"{request.on} adds seeds where claims are undecided, so that its entries cannot be compared")
    cases = list(view.cases)
    held = Records(study).held(request.size, request.on)
    rivals = [id for id in view.algorithms if id not in request.names]
    cells = list(study.cells(request.size, request.on).values())
    recorded = {_case(cell) for cell in cells if run_path(cell) in held}
    absent = [] if compute or not rivals else [case for case in cases if case not in recorded]
    cases = [case for case in cases if case not in absent]
    cases = cases[::QUICK_SHARE] if request.quick else cases
    comparison = _open(study, request, cases, held, compute)
    obstacles = _find_obstacles(study, comparison.trained, fetch)
    blocked = {_case(cell): name for cell in comparison.trained for name in _data(cell) if name in obstacles}
    sentences = [
        _explain_obstacle(name, obstacle, [view.cases[case] for case in cases if blocked.get(case) == name])
        for name, obstacle in obstacles.items()
    ]
    if blocked:
        comparison.file.unlink()
        if not (cases := [case for case in cases if case not in blocked]):
            nothing = f"no problem of {request.on} (size {request.size}) is left"
            raise UserError("\n".join([f"{nothing}; another --size or --on may need no such data", *sentences]))
        comparison = _open(study, request, cases, held, compute)
    return replace(comparison, left_out=len(absent), obstacles=sentences)


def _open(
    study: Study, request: Request, cases: Sequence[str], held: Mapping[str, Restoration], compute: bool
) -> Comparison:
    """Write the experiment of a comparison on some cases, and return the comparison.

    Args:
        study: The study.
        request: What is compared.
        cases: The cases; of an experiment without cases, none.
        held: What the record gives of the other experiment.
        compute: See `prepare`.

    Raises:
        UserError: An algorithm cannot be trained, or nothing is left to compare with.
    """
    view, cells = study.view(request.size, request.on), study.cells(request.size, request.on).values()
    rivals = [id for id in view.algorithms if id not in request.names]
    lacking = _lacking(study, request, cases, held)
    missing = {id: count for id in rivals if (count := sum(lacking.get(id, {}).values()))}
    left_out = [] if compute else [id for id in rivals if set(lacking.get(id, ())) & {*cases, ""}]
    left_out += [id for id in rivals if cases and view.undefined.get(id, {}).keys() >= set(cases)]
    if len(request.entries) + len(rivals) - len(left_out) < 2 or (view.cases and not cases):
        files = sum(cell.id in rivals and run_path(cell) not in held for cell in cells)
        raise UserError(
            f"the record has no runs of {request.on} (size {request.size}) to compare with: --compute trains its "
            f"{len(rivals)} entries first ({files} run files; `fedatlas run {request.on} --size {request.size} -n` "
            "says how long that takes)"
        )
    name = f"compare_{request.title}"
    removed = [case for case in view.cases if case not in cases]
    path = Path(study.folders.results, COMPARISONS, f"{name}.yaml")
    document = _document(request, view, left_out, removed, study.files.document(request.on))
    update_text(path, yaml.safe_dump(document, sort_keys=False, allow_unicode=True))
    study = Study.open()
    try:
        held = Records(study).held(request.size, name)
        study.view(request.size, name)
    except UserError as error:
        path.unlink()
        raise UserError(_in_users_words(str(error), f"{path} (size {request.size}): ")) from None
    return Comparison(study, request, name, held, missing)


def _resolve_names(names: Iterable[str], view: ExperimentView) -> list[str]:
    """Return names of entries and of algorithms, each once, for names and labels. Raise UserError at an unknown one."""
    result = [name if name in view.algorithms else algorithms.ALGORITHMS.resolve(name) for name in names]
    for name in result:
        if name not in view.algorithms:
            algorithms.get(name)
    return list(dict.fromkeys(result))


def _case(cell: Cell) -> str:
    return str(cell.point.get(CASE, ""))


def _data(cell: Cell) -> list[str]:
    """Return the names of a cell's data sets."""
    return [cell.spec.problem[key] for key in ("data", "test") if cell.spec.problem.get(key)]


def _find_obstacles(study: Study, cells: Iterable[Cell], fetch: bool) -> dict[str, str]:
    """Return why data sets of some cells cannot be had, by name; those that can are left out."""
    mirrors, obstacles = study.config["data_mirrors"], {}
    with terminal.progress_bar("looking for data"):
        for name in sorted({name for cell in cells for name in _data(cell)}):
            if obstacle := find_obstacle(name, study.folders.data, mirrors, fetch):
                obstacles[name] = obstacle
    return obstacles


def _explain_obstacle(data: str, obstacle: str, problems: Sequence[str]) -> str:
    """Return the sentence on a data set that cannot be had, and on the problems that are left out for it."""
    left_out = f"{labels.join_names(problems)} {'is' if len(problems) == 1 else 'are'} left out: " if problems else ""
    advice = f"`fedatlas data fetch {data}` says where to put a copy"
    return f"{left_out}the data set {data} cannot be had ({obstacle}); {advice}"


def _in_users_words(sentence: str, place: str) -> str:
    """Return an error about the experiment of a comparison in words of the command that made it."""
    return re.sub(r"\b(search|set)\.(\w+)", r"--\1 \2", sentence.replace(place, ""))


def _lacking(
    study: Study, request: Request, cases: Sequence[str], held: Mapping[str, Restoration]
) -> dict[str, dict[str, int]]:
    """Return the numbers of run files that the record lacks, by entry and case; without cases, the case is empty."""
    lacking: dict[str, dict[str, int]] = {}
    for cell in study.cells(request.size, request.on).values():
        case = _case(cell)
        if (case in cases or not case) and run_path(cell) not in held:
            counts = lacking.setdefault(cell.id, {})
            counts[case] = counts.get(case, 0) + 1
    return lacking


def _document(
    request: Request, view: ExperimentView, left_out: Sequence[str], removed: Sequence[str], base: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the content of the experiment's file.

    Args:
        request: What is compared.
        view: The other experiment as figures see it.
        left_out: Its entries that are left out.
        removed: Its cases that are left out.
        base: Content of its file.
    """
    entries: dict[str, Any] = {}
    for name in request.names:
        entries[name] = {"emphasis": True}
        if name not in view.algorithms:
            entries[name] |= {"set": dict(request.set), "search": dict(request.search)}
    seeds = {"seeds": view.seeds[:QUICK_SEEDS]} if request.quick else {}
    size: dict[str, Any] = {"algorithms": entries, "cases": {}, **seeds}
    override = base["sizes"][request.size] or {}
    for section, names in (("algorithms", left_out), ("cases", removed)):
        # null removes what the size says of them, and, above all sizes, what they are
        size[section] |= dict.fromkeys(name for name in names if name in (override.get(section) or {}))
    groups = {name: case.get("group") for name, case in base.get("cases", {}).items()}
    absent = {groups.get(name) for name in removed} - {groups.get(name) for name in view.cases if name not in removed}
    reasons = {id: absent & (entry or {}).get("undefined", {}).keys() for id, entry in base["algorithms"].items()}
    changes = {id: {"undefined": dict.fromkeys(names)} for id, names in reasons.items() if names}
    sections = {"algorithms": changes | dict.fromkeys(left_out), "cases": dict.fromkeys(removed)}
    return {
        "extends": {"experiment": request.on, "figures": "none", "claims": "none"},
        "title": f"{' and '.join(request.entries)} beside the algorithms of {request.on}",
        "source": f"a comparison that `{request.command}` wrote",
        "figures": FIGURES,
        **{key: content for key, content in sections.items() if content},
        "sizes": {request.size: {key: value for key, value in size.items() if value}},
    }
