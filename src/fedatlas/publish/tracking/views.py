"""Views of the runs of an experiment that MLflow's user interface offers: what it stores when someone shares a view.

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
from fedatlas.publish.tracking.run_records import parameter

TAG = "mlflow.sharedViewState."
LONGEST = 5000  # characters of an experiment's tag
PAGE = 100  # runs that the user interface loads at once
TRAINING = "workflowType=machine_learning"  # without it, MLflow's pages are those for language models
OWN, CURVES = "fedatlas", "-curves"  # of keys and of the section of charts
MLFLOWS = ("Model metrics", "System metrics")  # sections of charts


@dataclass(frozen=True)
class View:
    """A stored view of an experiment's runs at one size. curves: shows charts of them, and not a table."""

    size: str
    curves: bool = False

    @property
    def key(self) -> str:
        """What its link names it by."""
        return f"{OWN}-{self.size}{CURVES if self.curves else ''}"

    def link(self, id: str) -> str:
        """The end of its address. id: of the experiment in MLflow."""
        mode = {"compareRunsMode": "CHART"} if self.curves else {}
        return f"#/experiments/{id}/runs?{urlencode({'viewStateShareKey': self.key, **mode})}&{TRAINING}"

    def tag(self, about: ExperimentRecord, created: int | None) -> tuple[str, str]:
        """Key and value of the tag that stores it. created: milliseconds since 1970."""
        found = state(about, self.curves)
        packed = f"deflate;{b64encode(zlib.compress(json.dumps(found).encode())).decode()}"
        name = f"{'Curves of chosen runs' if self.curves else 'Chosen runs'} ({self.size})"
        named = {"name": name, "createdAt": created or 0, "state": packed}
        both = json.dumps({**named, **found}, separators=(",", ":"))
        return f"{TAG}{self.key}", both if len(both) <= LONGEST else json.dumps(named)


def of_key(key: str) -> View | None:
    """The view of a key; None if people have stored it."""
    own, _, size = key.partition("-")
    return View(size.removesuffix(CURVES), size.endswith(CURVES)) if own == OWN else None


def of_size(size: str) -> list[View]:
    """The views of an experiment at a size."""
    return [View(size), View(size, curves=True)]


def state(about: ExperimentRecord, curves: bool) -> dict[str, Any]:
    """What is shown, in the terms of MLflow's user interface: filter, order, columns, groups, charts.

    Folded groups have no lines in charts, and the colours of groups are MLflow's own: curves are of single runs.
    """
    shown = columns(about)
    by_algorithm = {
        "aggregateFunction": about.select.goal,
        "groupByKeys": [{"mode": "tag", "groupByData": "algorithm"}],
    }
    return {
        "searchFilter": search(about),
        "orderByKey": "metrics.`score`",
        "orderByAsc": about.select.goal == "min",
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": shown,
        "columnOrder": shown,
        "columnWidths": {"metrics.`score`": 130},
        "groupBy": None if curves else by_algorithm,
        "groupsExpanded": {} if curves else {f"tag.algorithm.{id}": False for id in about.algorithms},
        "useGroupedValuesInCharts": False,
        "runsHiddenMode": "SHOW_ALL",
        "runsExpanded": {},
        "runsPinned": [],
        "runsHidden": [],
        "runsVisibilityMap": {},
        "compareRunCharts": _charts(about),
        "compareRunSections": _sections(),
        "isAccordionReordered": True,
        "hideEmptyCharts": True,
        "autoRefreshEnabled": False,
        "viewMaximized": False,
        "runListHidden": False,
        "globalLineChartConfig": {"xAxisKey": "step", "lineSmoothness": 0, "selectedXAxisMetricKey": ""},
    }


def search(about: ExperimentRecord) -> str:
    """The filter for the chosen runs. Where a page cannot hold them, it is for one seed, and for one value of axes."""
    parts = [f"tags.size = '{about.size}'", "tags.chosen = 'true'"]
    axes = {**about.content["grid"], **about.content["within"]}
    count = len(about.algorithms) * len(about.seeds) * math.prod(map(len, axes.values()))
    for name, values in {"seed": about.seeds[::-1], **axes}.items():
        wanted = format_value(values[-1])
        if count > PAGE and len(values) > 1 and "'" not in wanted:
            parts.append(f"params.`{parameter(name)}` = '{wanted}'")
            count //= len(values)
    return " AND ".join(parts)


def columns(about: ExperimentRecord) -> list[str]:
    """The columns of the table of runs: algorithm, axes, tuned hyper-parameters, score, and how the run ended."""
    values = dict.fromkeys(parameter(axis) for axis in (*about.axes, *about.tune))
    return [
        "tags.`algorithm`",
        *(f"params.`{name}`" for name in values),
        "metrics.`score`",
        "tags.`status`",
        "tags.`chosen`",
        "attributes.`Duration`",
    ]


def _charts(about: ExperimentRecord) -> list[dict[str, Any]]:
    """The scored metric against rounds and costs, and the scores."""
    name = about.select.metric
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
    fixed = {"metricSectionId": OWN, "deleted": False, "isGenerated": False, "runsCountToCompare": PAGE}
    return [{"uuid": f"{OWN}-{number}", **fixed, **chart} for number, chart in enumerate(charts)]


def _sections() -> list[dict[str, Any]]:
    """The sections of charts. MLflow adds charts of all other metrics to its own two, which come last."""
    own = {"uuid": OWN, "name": "Chosen runs", "display": True, "isReordered": True, "deleted": False}
    return [own, *({"uuid": name, "name": name, "display": False, "isReordered": False} for name in MLFLOWS)]
