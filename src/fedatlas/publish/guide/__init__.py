"""The page "Which method, when?", from the results of a suite: one HTML file that opens offline."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedatlas.errors import UserError
from fedatlas.experiments import SIZES, labels
from fedatlas.experiments.cells import CASE, EXCHANGES, Cell
from fedatlas.experiments.tables import Tables
from fedatlas.experiments.values import is_missing, parse_cell
from fedatlas.experiments.view import ExperimentView
from fedatlas.federation.engine.exchanges import Ledger
from fedatlas.io.files import write_text
from fedatlas.publish.report.page import SHARED, TABLES, create_environment, read_resources
from fedatlas.publish.report.tables import compress
from fedatlas.records.lookup import lacking_cells, record_paths
from fedatlas.records.results import find_record, record_tables
from fedatlas.results.comparing.benchmark import target_costs
from fedatlas.workflow.comparison import SUITE
from fedatlas.workflow.study import Study

if TYPE_CHECKING:
    import pandas as pd

HERE = Path(__file__).parent
SHARES = (0.1, 0.01, 0.001)  # targets: shares of the first distance to the best value
NEVER, UNDEFINED = -1, -2  # rounds of runs that never attain a target, and of those that there are not
RATES = ("bits_up", "bits_down", "vectors_up", "gradients", "samples")  # costs of a round

# The conditions of a problem that a reader can name: the question and the words of its answers
QUESTIONS = {
    "hessians": ("Are the clients' Hessians alike?", {"alike": "alike", "unlike": "not alike"}),
    "optima": ("Do their optima lie far apart?", {"near": "near", "far": "far"}),
    "clients": ("Who takes part in a round?", {"all": "all", "some": "a drawn share", "unstable": "whoever is there"}),
    "gradients": ("How exact are gradients?", {"exact": "exact", "batch": "of minibatches", "sample": "of one sample"}),
}
ALIKE = 0.05  # delta_B over L up to which Hessians are alike
NEAR = 1.0  # distance of the clients' own optima from a common point up to which they are near
EVEN = 10.0  # Dirichlet's alpha from which on labels are spread evenly, so that clients are alike in both


def write_guide(study: Study, out: Path, name: str = SUITE, size: str | None = None, pages: str = "") -> None:
    """Write the page from the record of a suite.

    Args:
        study: The study.
        out: Path of the page.
        name: Name of the suite, whose problems are cases.
        size: Its size; by default the largest of which the record is whole.
        pages: Address of the folder of the algorithms' pages; empty for no links.

    Raises:
        UserError: There is no such record, or its problems are not cases.
    """
    sizes = [held for held, suite in record_paths(study) if suite == name and not lacking_cells(study, held, name)]
    size = find_record(study, name, size or max(sizes, key=SIZES.index, default=None)).path.parent.name
    view = study.view(size, name)
    if not view.cases:
        raise UserError(f"{name} has no cases: a suite names its problems under `cases`")
    tables = record_tables(study, name, size)
    write_page(build_content(view, tables, study.cells(size, name).values()), out, pages)


def write_page(content: dict[str, Any], out: Path, pages: str = "") -> None:
    """Write the page of a content.

    Args:
        content: Result of `build_content`.
        out: Path of the page.
        pages: Address of the folder of the algorithms' pages; empty for no links.
    """
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    html = (
        create_environment(HERE)
        .get_template("guide.html")
        .render(
            title="Which method, when?",
            content=content,
            data=compress(text),
            pages=pages,
            **read_resources(
                [HERE / "guide.css"], [SHARED, TABLES, HERE / "ranking.js", HERE / "guide.js"], has_charts=False
            ),
        )
    )
    write_text(out, html)


def build_content(view: ExperimentView, tables: Tables, cells: Iterable[Cell]) -> dict[str, Any]:
    """Return the content of the page.

    Args:
        view: The suite as figures see it, whose problems are cases.
        tables: Its results.
        cells: Its cells.
    """
    cases = list(view.cases)
    curves = tables.curves[tables.curves[CASE].isin(cases)]
    algorithms = [id for id in view.algorithms if id in set(curves["algorithm"])]
    specs = {(cell.id, cell.point[CASE]): cell.spec for cell in cells}
    first = {case: next(spec for (_, other), spec in specs.items() if other == case) for case in cases}
    goal = view.select.goal
    board = target_costs(curves, algorithms, [CASE], view.select.metric, goal, SHARES)
    order = [board.problems.index((case,)) for case in cases]
    names = {id: view.algorithms[id].name for id in algorithms}
    return {
        "suite": view.name,
        "size": view.size,
        "seeds": int(board.numbers.shape[3]),
        "shares": list(SHARES),
        "questions": {key: {"text": text, "answers": answers} for key, (text, answers) in QUESTIONS.items()},
        "algorithms": [
            {
                "id": id,
                "name": names[id],
                "method": view.algorithms[id].algorithm,
                "set": dict(view.algorithms[id].set),
            }
            for id in algorithms
        ],
        "problems": [
            {
                "id": case,
                "title": view.cases[case],
                "conditions": conditions(first[case].problem, first[case].setting),
                "problem": first[case].problem,
                "setting": first[case].setting,
            }
            for case in cases
        ],
        "reach": _reach(board.numbers[:, order], board.defined[:, order]),
        "rates": _by_pair(_rates(curves), algorithms, cases),
        "chosen": _by_pair(_chosen(tables.table, view), algorithms, cases),
    }


def _reach(numbers: np.ndarray, defined: np.ndarray) -> list[Any]:
    """Return rounds as whole numbers, (algorithms, problems, targets, seeds)."""
    rounds = np.where(np.isfinite(numbers), numbers, NEVER)
    rounds = np.where(defined[:, :, None, None], rounds, UNDEFINED)
    plain: list[Any] = rounds.astype(int).tolist()
    return plain


def _by_pair(values: Mapping[tuple[str, str], Any], algorithms: list[str], cases: list[str]) -> list[list[Any]]:
    """Return values of algorithms and problems as lists, None where there are none."""
    return [[values.get((id, case)) for case in cases] for id in algorithms]


def _rates(curves: "pd.DataFrame") -> dict[tuple[str, str], dict[str, float]]:
    """Return the costs of a round, the mean over runs, and the exchanges of a round."""
    ends = curves[curves["round"] > 0].groupby(["algorithm", CASE, "seed"], sort=False).last()
    rates = {}
    for (id, case), rows in ends.groupby(level=[0, 1], sort=False):
        costs = {name: float((rows[name] / rows["round"]).mean()) for name in RATES}
        ledger = Ledger.parse(rows[EXCHANGES].iloc[0]) if EXCHANGES in rows else ()
        counts = [(len(profile), rounds) for profile, rounds in ledger]
        rounds = sum(number for _, number in counts)
        costs["exchanges"] = sum(count * number for count, number in counts) / rounds if rounds else 1.0
        rates[str(id), str(case)] = {name: float(f"{value:.6g}") for name, value in costs.items()}
    return rates


def _chosen(table: "pd.DataFrame", view: ExperimentView) -> dict[tuple[str, str], dict[str, Any]]:
    """Return by algorithm and problem the chosen values, with their symbols."""
    result = {}
    for row in table[table["chosen"]].to_dict("records"):
        values = {}
        for name in view.algorithms[row["algorithm"]].tune:
            cell = row.get(name)
            if cell is not None and not is_missing(cell):
                value = parse_cell(cell.item() if hasattr(cell, "item") else cell)
                values[name] = {"value": value, "text": labels.assignment(name, value)}
        result[row["algorithm"], row[CASE]] = values
    return result


def conditions(problem: Mapping[str, Any], setting: Mapping[str, Any]) -> dict[str, str]:
    """Return the answers to the questions of which a problem and a setting are an example.

    Args:
        problem: Specification of the problem.
        setting: Keys of the setting.
    """
    kind = setting.get("participation", "full")
    kind = kind["kind"] if isinstance(kind, Mapping) else kind
    return {
        **_differences(problem),
        "clients": {None: "all", "full": "all", "uniform": "some", "bernoulli": "some"}.get(kind, "unstable"),
        "gradients": {None: "exact", 1: "sample"}.get(setting.get("batch"), "batch"),
    }


def _differences(problem: Mapping[str, Any]) -> dict[str, str]:
    if "data" in problem:
        partition = problem.get("partition") or "iid"
        kind, alpha = (partition, None) if isinstance(partition, str) else (partition["kind"], partition.get("alpha"))
        even = kind in ("iid", "shared") or (alpha is not None and alpha >= EVEN)
        return {"hessians": "alike" if even else "unlike", "optima": "near" if even else "far"}
    ratio = problem.get("similarity", 0.0) / problem.get("L", 100.0)
    distance = problem.get("heterogeneity", problem.get("scatter", 0.0))
    return {"hessians": "alike" if ratio <= ALIKE else "unlike", "optima": "near" if distance <= NEAR else "far"}
