"""The results of the workflow, and of the record, as DataFrames."""

import dataclasses
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedatlas.errors import UserError
from fedatlas.experiments.result_files import read
from fedatlas.publish.report.facts import FACTS_FILE, read_facts, read_verdicts, to_frame
from fedatlas.records.results import find_record, record_tables
from fedatlas.workflow.study import Study

if TYPE_CHECKING:
    import pandas as pd

NUMBERS = ("value", "low", "high", "seeds", "p")  # columns of claims that hold numbers


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """The results of experiments. Every DataFrame begins with the columns ``experiment`` and ``size``.

    table: a row for each algorithm, point of the axes and tuned value. ``algorithm`` is the entry's name in the
    experiment file, and each axis and each tuned hyper-parameter is a column. ``tuning_score``, ``tuning_seeds`` and
    ``tuning_diverged`` are the median score over the tuning seeds, their number, and how many runs diverged.
    ``chosen`` says whether the value won, ``edge`` where it lies at an end of its axis, ``confirmation`` whether fresh
    seeds confirmed it. ``score``, ``score_sd``, ``score_min``, ``score_max``, ``seeds`` and ``diverged`` are of the
    scoring seeds, and so are ``best_METRIC``, ``final_METRIC``, ``rounds``, ``steps`` and the costs: they are missing
    in rows that were not chosen.

    curves: a row for each evaluation of the chosen values, by ``algorithm``, axes, ``seed`` and ``round``: ``steps``,
    the costs up to there, the metrics, ``exchanges`` (those since the evaluation before, as JSON), ``status`` (ok or
    diverged) and ``diverged_round`` of the run.

    trials: a row for each run on which tuned values are compared: ``score`` and ``diverged`` (0 or 1), by
    ``algorithm``, axes, tuned values and ``seed``.

    claims: a row for each claim of the paper: ``claim``, ``text``, ``interpretation``, ``source``, what the ``paper``
    has, what is found here (``ours``), ``verdict``, the number that decides (``value``), its interval (``low``,
    ``high``), ``seeds``, the p-value ``p``, and ``note``.

    Costs are ``vectors_up``, ``vectors_down``, ``bits_up``, ``bits_down``, ``gradients``, ``samples`` (per active
    client) and ``seconds``. A column of an axis holds numbers, or text where a value is none: a word is itself, a
    mapping its JSON.
    """

    table: "pd.DataFrame"
    curves: "pd.DataFrame"
    trials: "pd.DataFrame"
    claims: "pd.DataFrame"

    def __repr__(self) -> str:
        pairs = self.table[["experiment", "size"]].drop_duplicates().itertuples(index=False)
        rows = [f"{field.name} of {len(getattr(self, field.name)):,}" for field in dataclasses.fields(self)]
        experiments = ", ".join(f"{name} ({size})" for name, size in pairs)
        return f"<Results of {experiments}: {', '.join(rows).replace(',', ' rows,', 1)}>"


def load_results(path: str | PathLike[str] = "results") -> Results:
    """Return the results of experiments that the workflow computed as DataFrames; see `Results` for their columns.

    Args:
        path: Path of ``results``, of a size in it (``results/smoke``) or of one experiment (``results/smoke/tiny``).

    Raises:
        UserError: There are no results, or a file is broken.

    >>> import fedatlas
    >>> results = fedatlas.load_results("results/smoke/tiny")
    >>> results
    <Results of tiny (smoke): table of 12 rows, curves of 48, trials of 16, claims of 1>
    >>> best = results.table[results.table["chosen"]].groupby("algorithm")["score"].min()
    >>> curves = results.curves.query("local_steps == 2 and clients == 3")
    >>> ax = fedatlas.plot(curves, y="loss")
    """
    import pandas as pd

    files = {file for depth in (".", "*", "*/*") for file in Path(path).glob(f"{depth}/table.parquet")}
    if not files:
        raise UserError(f"no results under {path}: make some first, such as `fedatlas run NAME` or `snakemake`")
    parts: dict[str, list[pd.DataFrame]] = {field.name: [] for field in dataclasses.fields(Results)}
    algorithms: dict[str, Any] = {}
    for folder in sorted(file.parent.resolve() for file in files):
        for kind in ("table", "curves", "trials"):
            frame, _ = read(folder / f"{kind}.parquet")
            frame.insert(0, "experiment", folder.name)
            frame.insert(1, "size", folder.parent.name)
            parts[kind].append(frame)
        if (folder / "claims.csv").exists():
            parts["claims"].append(_read_claims(folder / "claims.csv"))
        if (folder / FACTS_FILE).exists():
            about = read_facts(folder / FACTS_FILE)
            entries = about["content"].get("algorithms", {})
            for id, label in about["algorithms"].items():
                algorithms[id] = {"algorithm": (entries.get(id) or {}).get("algorithm") or id, "label": label}
    frames = {kind: pd.concat(part, ignore_index=True) if part else pd.DataFrame() for kind, part in parts.items()}
    for kind in ("table", "curves", "trials"):
        frames[kind].attrs = {"algorithms": algorithms}
    return Results(**frames)


def _read_claims(path: Path) -> "pd.DataFrame":
    """Return the verdicts in a claims.csv. Raise UserError if the file has another form."""
    import pandas as pd

    frame = to_frame(read_verdicts(path))
    try:
        return frame.assign(**{name: pd.to_numeric(frame[name]) for name in NUMBERS})
    except (ValueError, TypeError) as error:
        raise UserError(f"{path} holds no claims of fedatlas ({error}); delete it and run again") from None


def record(name: str, size: str | None = None) -> "pd.DataFrame":
    """Return the curves of an experiment from the record that fedatlas carries, with all that its figures draw.

    A row is an evaluation: of the entry ``algorithm``, at values of the axes, with ``seed``, after so many rounds
    (``round``) and local steps (``steps``). Costs are means over clients since the start: ``vectors_up`` and
    ``vectors_down`` count vectors of the model's size, ``bits_up`` and ``bits_down`` bits, ``gradients`` and
    ``samples`` those of an active client, ``seconds`` those of a processor. Metrics have the units of the problem;
    accuracies are shares. ``status`` is ok or diverged.

    Args:
        name: Name of the experiment.
        size: Its size; by default the only one that has a record.

    Raises:
        UserError: There is no such record, or it was damaged.

    >>> import fedatlas
    >>> curves = fedatlas.record("fedsps_prop2")
    >>> sorted(curves["algorithm"].unique())
    ['fedsps-global']
    """
    study = Study.open()
    curves = record_tables(study, name, size).curves
    view = study.view(find_record(study, name, size).path.parent.name, name)
    curves.attrs = {
        "algorithms": {id: {"algorithm": entry.algorithm, "label": entry.name} for id, entry in view.algorithms.items()}
    }
    return curves
