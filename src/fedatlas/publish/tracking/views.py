"""Views of an experiment's runs in MLflow's user interface, stored as MLflow stores a view that someone shares.

A stored view is a tag of the experiment, ``mlflow.sharedViewState.KEY``, and a link that names the key opens it. MLflow
3.17 reads JSON with a name and a state, which is text, and lists it in the menu *Views*. Earlier versions read JSON
with the fields of the state. The tag holds both, so that all versions open it.
"""

import json
import math
import zlib
from base64 import b64encode
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fedatlas.experiments.cells import format_value
from fedatlas.federation.metrics import metric
from fedatlas.publish.report.record import ExperimentRecord
from fedatlas.publish.tracking.run_records import parameter_name

TAG = "mlflow.sharedViewState."
MAX_LENGTH = 5000  # characters of an experiment's tag
PAGE = 100  # runs that the user interface loads at once
TRAINING = "workflowType=machine_learning"  # without it, MLflow's pages are those for language models
PREFIX, CURVES = "fedatlas", "-curves"  # prefix and suffix of keys; the prefix is also the id of the section of charts
MLFLOW_SECTIONS = ("Model metrics", "System metrics")  # of charts


@dataclass(frozen=True)
class View:
    """A stored view of an experiment's runs at one size.

    Attributes:
        size: Size of the experiment.
        curves: Whether the view shows charts instead of a table.
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

    def tag(self, record: ExperimentRecord, created: int | None) -> tuple[str, str]:
        """Return key and value of the tag that stores the view.

        Args:
            record: The experiment's record.
            created: Creation of the experiment in MLflow, in milliseconds since 1970.
        """
        fields = state(record, self.curves)
        packed = f"deflate;{b64encode(zlib.compress(json.dumps(fields).encode())).decode()}"
        name = f"{'Curves of chosen runs' if self.curves else 'Chosen runs'} ({self.size})"
        value = {"name": name, "createdAt": created or 0, "state": packed}
        extended = json.dumps({**value, **fields}, separators=(",", ":"))  # for versions of MLflow before 3.17
        return f"{TAG}{self.key}", extended if len(extended) <= MAX_LENGTH else json.dumps(value)


def parse_key(key: str) -> View | None:
    """Return the view of a key, or None for a view that a person has stored."""
    prefix, _, size = key.partition("-")
    return View(size.removesuffix(CURVES), size.endswith(CURVES)) if prefix == PREFIX else None


def views_of_size(size: str) -> list[View]:
    """Return the views of an experiment at a size: the table, and the curves."""
    return [View(size), View(size, curves=True)]


def state(record: ExperimentRecord, curves: bool) -> dict[str, Any]:
    """Return a view in the terms of MLflow's user interface: filter, order, columns, groups, charts.

    Folded groups have no lines in charts, and the colours of groups are MLflow's: curves are of single runs.
    """
    names = columns(record)
    by_algorithm = {
        "aggregateFunction": record.select.goal,
        "groupByKeys": [{"mode": "tag", "groupByData": "algorithm"}],
    }
    return {
        "searchFilter": search(record),
        "orderByKey": "metrics.`score`",
        "orderByAsc": record.select.goal == "min",
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": names,
        "columnOrder": names,
        "columnWidths": {"metrics.`score`": 130},
        "groupBy": None if curves else by_algorithm,
        "groupsExpanded": {} if curves else {f"tag.algorithm.{id}": False for id in record.algorithms},
        "useGroupedValuesInCharts": False,
        "runsHiddenMode": "SHOW_ALL",
        "runsExpanded": {},
        "runsPinned": [],
        "runsHidden": [],
        "runsVisibilityMap": {},
        "compareRunCharts": _charts(record),
        "compareRunSections": _sections(),
        "isAccordionReordered": True,
        "hideEmptyCharts": True,
        "autoRefreshEnabled": False,
        "viewMaximized": False,
        "runListHidden": False,
        "globalLineChartConfig": {"xAxisKey": "step", "lineSmoothness": 0, "selectedXAxisMetricKey": ""},
    }


def search(record: ExperimentRecord) -> str:
    """Return the filter for the chosen runs; if a page cannot hold them, for one seed and one value of some axes."""
    parts = [f"tags.size = '{record.size}'", "tags.chosen = 'true'"]
    axes = {**record.content["grid"], **record.content["within"]}
    count = len(record.algorithms) * len(record.seeds) * math.prod(map(len, axes.values()))
    for name, values in {"seed": record.seeds[::-1], **axes}.items():
        text = format_value(values[-1])
        if count > PAGE and len(values) > 1 and "'" not in text:
            parts.append(f"params.`{parameter_name(name)}` = '{text}'")
            count //= len(values)
    return " AND ".join(parts)


def columns(record: ExperimentRecord) -> list[str]:
    """Return the columns of the table of runs: algorithm, axes, tuned hyper-parameters, score and status."""
    values = dict.fromkeys(parameter_name(axis) for axis in (*record.axes, *record.tune))
    return [
        "tags.`algorithm`",
        *(f"params.`{name}`" for name in values),
        "metrics.`score`",
        "tags.`status`",
        "tags.`chosen`",
        "attributes.`Duration`",
    ]


def _charts(record: ExperimentRecord) -> list[dict[str, Any]]:
    """Return charts of the scored metric against rounds and costs, and of the scores."""
    name = record.select.metric
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
        *({**line, **cost, "selectedXAxisMetricKey": axis} for axis in ("vectors_up", "gradients")),
        {"type": "BAR", "metricKey": "score"},
    ]
    fixed = {"metricSectionId": PREFIX, "deleted": False, "isGenerated": False, "runsCountToCompare": PAGE}
    return [{"uuid": f"{PREFIX}-{number}", **fixed, **chart} for number, chart in enumerate(charts)]


def _sections() -> list[dict[str, Any]]:
    """Return the sections of charts; MLflow adds charts of all other metrics to its two sections, which come last."""
    chosen = {"uuid": PREFIX, "name": "Chosen runs", "display": True, "isReordered": True, "deleted": False}
    return [chosen, *({"uuid": name, "name": name, "display": False, "isReordered": False} for name in MLFLOW_SECTIONS)]
