"""Views of an experiment's runs in MLflow's user interface, stored as MLflow stores a view that someone shares.

A stored view is a tag of the experiment, ``mlflow.sharedViewState.KEY``, and a link that names the key opens it. MLflow
3.17 reads JSON with a name and a state, which is text, and lists it in the menu *Views*. Earlier versions read JSON
with the fields of the state. The tag holds both, so that all versions open it.
"""

import json
import math
import zlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fedatlas.federation.metrics import metric
from fedatlas.publish.report.facts import ExperimentFacts
from fedatlas.publish.tracking.run_record import PLACE
from fedatlas.publish.tracking.setting_runs import parameter_name, run_name, sent

TAG = "mlflow.sharedViewState."
MAX_LENGTH = 5000  # characters of an experiment's tag
NAME = "attributes.`Run Name`"  # the column of the names of runs
MAX_WIDTH = 480  # pixels of this column, which lies beside others
PAGE = 100  # runs that the user interface loads at once
TRAINING = "workflowType=machine_learning"  # without it, MLflow's pages are those for language models
PREFIX, CURVES = "fedatlas", "-curves"  # prefix and suffix of keys; the prefix is also the id of the section of charts
MLFLOW_SECTIONS = ("Model metrics", "System metrics")  # of charts


@dataclass(frozen=True)
class View:
    """A stored view of an experiment's runs at one size.

    Attributes:
        size: Size of the experiment.
        curves: Whether the view shows the curves of one setting instead of the setting runs.
    """

    size: str
    curves: bool = False

    @property
    def key(self) -> str:
        """The key by which its link names the view."""
        return f"{PREFIX}-{self.size}{CURVES if self.curves else ''}"

    def link(self, id: str) -> str:
        """Return the end of the view's address, for the id of the experiment in MLflow."""
        mode = {"compareRunsMode": "CHART"} if self.curves else {}
        return f"#/experiments/{id}/runs?{urlencode({'viewStateShareKey': self.key, **mode})}&{TRAINING}"

    def tag(self, facts: ExperimentFacts, created: int | None, setting: Mapping[str, str]) -> tuple[str, str]:
        """Return key and value of the tag that stores the view.

        Args:
            facts: The experiment's facts.
            created: Creation of the experiment in MLflow, in milliseconds since 1970.
            setting: Parameters that have the values of axes of which curves are shown.
        """
        fields = state(facts, setting if self.curves else None)
        packed = f"deflate;{b64encode(zlib.compress(json.dumps(fields).encode())).decode()}"
        name = f"{'Curves' if self.curves else 'Summary'} ({self.size})"
        value = {"name": name, "createdAt": created or 0, "state": packed}
        extended = json.dumps({**value, **fields}, separators=(",", ":"))  # for versions of MLflow before 3.17
        return f"{TAG}{self.key}", extended if len(extended) <= MAX_LENGTH else json.dumps(value)


def parse_key(key: str) -> View | None:
    """Return the view of a key, or None for a view that a person has stored."""
    prefix, _, size = key.partition("-")
    return View(size.removesuffix(CURVES), size.endswith(CURVES)) if prefix == PREFIX else None


def views_of_size(size: str) -> list[View]:
    """Return the views of an experiment at a size: the summary, and the curves."""
    return [View(size), View(size, curves=True)]


def state(facts: ExperimentFacts, setting: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a view in the terms of MLflow's user interface: filter, order, columns, charts.

    Args:
        facts: The experiment's facts.
        setting: Parameters that have the values of axes of which curves are shown; None for the table of setting runs.
    """
    names = columns(facts)
    return {
        "searchFilter": search(facts, setting),
        "orderByKey": f"tags.`{PLACE}`",
        "orderByAsc": True,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": names,
        "columnOrder": [NAME, *names],
        "columnWidths": {NAME: _name_width(facts), "metrics.`score`": 180, "tags.`interval`": 90}
        | _wide_columns(facts),
        "groupBy": None,
        "groupsExpanded": {},
        "useGroupedValuesInCharts": False,
        "runsHiddenMode": "SHOW_ALL",
        "runsExpanded": {},
        "runsPinned": [],
        "runsHidden": [],
        "runsVisibilityMap": {},
        "compareRunCharts": _charts(facts),
        "compareRunSections": _sections(),
        "isAccordionReordered": True,
        "hideEmptyCharts": True,
        "autoRefreshEnabled": False,
        "viewMaximized": False,
        "runListHidden": False,
        "globalLineChartConfig": {"xAxisKey": "step", "lineSmoothness": 0, "selectedXAxisMetricKey": ""},
    }


def search(facts: ExperimentFacts, setting: Mapping[str, str] | None = None) -> str:
    """Return the search for the setting runs of a size, or of one setting of it: a run for each algorithm."""
    parts = [f"tags.size = '{facts.size}'", "tags.phase = 'setting'"]
    for name in map(parameter_name, facts.axes if setting is not None else ()):
        if setting is not None and "'" not in (text := setting[name]):  # MLflow has no escape for a quotation mark
            parts.append(f"params.`{name}` = '{text}'")
    return " AND ".join(parts)


def columns(facts: ExperimentFacts) -> list[str]:
    """Return the columns: score and interval, axes, tuned hyper-parameters, seeds, status, and bits of channels."""
    values = dict.fromkeys(parameter_name(axis) for axis in (*facts.axes, *facts.tune))
    bits = ("metrics.`bits_up`", "metrics.`bits_down`") if sent(facts) == "bits_up" else ()
    return [
        "metrics.`score`",
        "tags.`interval`",
        *(f"params.`{name}`" for name in values),
        *bits,
        "params.`seeds`",
        "tags.`status`",
    ]


def _name_width(facts: ExperimentFacts) -> int:
    """Return the width of the column of names, in pixels, that shows algorithm, score and setting in full."""
    axes = {**facts.content["grid"], **facts.content["within"]}
    parts = [max((run_name("", {axis: value}) for value in values), key=len) for axis, values in axes.items()]
    letters = len("".join([max(facts.algorithms.values(), key=len), " 0.000123", *parts]))
    return min(MAX_WIDTH, 75 + math.ceil(6.5 * letters))


def _wide_columns(facts: ExperimentFacts) -> dict[str, int]:
    """Return widths of the columns of axes whose values are specifications or lists."""
    axes = {**facts.content["grid"], **facts.content["within"]}
    wide = [axis for axis, values in axes.items() if any(isinstance(value, (dict, list)) for value in values)]
    return {f"params.`{parameter_name(axis)}`": 200 for axis in wide}


def _charts(facts: ExperimentFacts) -> list[dict[str, Any]]:
    """Return charts of the scored metric against rounds and costs, and of the scores."""
    name = facts.select.metric
    line: dict[str, Any] = {
        "type": "LINE",
        "metricKey": name,
        "selectedMetricKeys": [name],
        "scaleType": metric(name).scale,
    }
    line |= {"lineSmoothness": 0, "useGlobalLineSmoothing": True}
    cost = {"xAxisKey": "metric", "useGlobalXaxisKey": False}
    charts: list[dict[str, Any]] = [
        {"xAxisKey": "step", **line},
        *({**line, **cost, "selectedXAxisMetricKey": axis} for axis in (sent(facts), "gradients")),
        {"type": "BAR", "metricKey": "score"},
    ]
    fixed = {"metricSectionId": PREFIX, "deleted": False, "isGenerated": False, "runsCountToCompare": PAGE}
    return [{"uuid": f"{PREFIX}-{number}", **fixed, **chart} for number, chart in enumerate(charts)]


def _sections() -> list[dict[str, Any]]:
    """Return the sections of charts; MLflow adds charts of all other metrics to its two sections, which come last."""
    curves = {"uuid": PREFIX, "name": "Curves", "display": True, "isReordered": True, "deleted": False, "columns": 1}
    return [curves, *({"uuid": name, "name": name, "display": False, "isReordered": False} for name in MLFLOW_SECTIONS)]
