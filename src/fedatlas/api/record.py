"""Curves of experiments from the record that fedatlas carries."""

from typing import TYPE_CHECKING

from fedatlas.records.results import find_record, record_tables
from fedatlas.workflow.study import Study

if TYPE_CHECKING:
    import pandas as pd


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
    held = find_record(study, name, size)
    view = study.view(held.path.parent.name, name)
    curves.attrs = {
        "algorithms": {id: {"algorithm": entry.algorithm, "label": entry.name} for id, entry in view.algorithms.items()}
    }
    return curves
