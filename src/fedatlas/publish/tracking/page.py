"""The page of an experiment in MLflow: its note, its tags, and the view *Summary* of its setting runs.

A stored view is a tag of the experiment, ``mlflow.sharedViewState.KEY``, and a link that names the key opens it. MLflow
3.17 reads a name and a state, which is text; earlier versions read the fields of the state. The tag holds both.
"""

import json
import os
import sys
import zlib
from base64 import b64encode
from typing import TYPE_CHECKING

from fedatlas.errors import UserError
from fedatlas.io.markdown import escape_markdown
from fedatlas.publish.report.facts import Facts
from fedatlas.publish.report.headlines import LEVELS
from fedatlas.publish.tracking.connection import ENVIRONMENT, artifact_folder, connect, database_exists, database_path
from fedatlas.publish.tracking.records import NOTE, parameter_name

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Experiment

VIEW, KEY = "mlflow.sharedViewState.", "fedatlas-"  # followed by the size
TRAINING = "workflowType=machine_learning"  # without it, MLflow's pages are those for language models
NAME = "attributes.`Run Name`"
MAX_LENGTH = 5000  # characters that all versions of MLflow store of an experiment's tag


def describe(client: "MlflowClient", experiment: "Experiment", facts: Facts) -> None:
    """Bring note, tags and summary of an experiment up to date."""
    tags = {key: facts["tags"][key] for key in ("paper", "source")}
    tags |= {NOTE: note(facts, experiment.experiment_id)[:MAX_LENGTH]}
    tags["mlflow.experimentKind"] = "custom_model_development"  # MLflow would take it for a language model's
    tags[f"{VIEW}{KEY}{facts['size']}"] = _summary(facts, experiment.creation_time)
    for key, value in tags.items():
        if experiment.tags.get(key) != value:
            client.set_experiment_tag(experiment.experiment_id, key, value)


def note(facts: Facts, id: str) -> str:
    """Return title, cards, link to the summary, description, paper and notes as Markdown; id: of MLflow."""
    paper, plain, cards = facts["paper"], escape_markdown, []
    for card in facts["cards"]:
        words, quote, place = (plain(card[key]) for key in ("words", "quote", "place"))
        cards.append(f"- **{words}**: “{quote}” ({place}; evidence: {LEVELS[card['level']]})")
    parts = [
        plain(facts["title"]),
        "\n".join(cards),
        f"Size {facts['size']}: [summary]({_link(facts['size'], id)})",
        plain(facts["description"]),
        f"{plain(facts['source'])} of {paper['authors']}: *{paper['title']}*, {paper['venue']}, {paper['year']}. "
        f"{paper['link']}",
        "\n".join(f"- {plain(text)}" for text in facts["notes"]),
    ]
    return "\n\n".join(filter(None, parts))


def _summary(facts: Facts, created: int | None) -> str:
    """Return the view of name, score, interval, setting, seeds and status, the best score first."""
    values = dict.fromkeys(parameter_name(axis) for axis in (*facts["axes"], *facts["tune"]))
    columns = ["metrics.`score`", "tags.`interval`", *(f"params.`{name}`" for name in values)]
    columns += ["params.`seeds`", "tags.`status`"]
    state = {
        "searchFilter": f"tags.size = '{facts['size']}' AND tags.phase = 'setting'",
        "orderByKey": "metrics.`score`",
        "orderByAsc": facts["select"]["goal"] == "min",
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "selectedColumns": columns,
        "columnOrder": [NAME, *columns],
        "columnWidths": {NAME: 360, "metrics.`score`": 180, "tags.`interval`": 90},
        "runsHiddenMode": "SHOW_ALL",
    }
    packed = f"deflate;{b64encode(zlib.compress(json.dumps(state).encode())).decode()}"
    value = {"name": f"Summary ({facts['size']})", "createdAt": created or 0, "state": packed}
    both = json.dumps({**value, **state})
    return both if len(both) <= MAX_LENGTH else json.dumps(value)


def _link(size: str, id: str) -> str:
    """Return the end of the address of a size's summary, for the id of the experiment in MLflow."""
    return f"#/experiments/{id}/runs?viewStateShareKey={KEY}{size}&{TRAINING}"


def serve_ui(uri: str, port: int = 5000) -> None:
    """Print the addresses of the experiments and of their summaries, and become MLflow's server of a database.

    Args:
        uri: ``sqlite:///FILE``, or the address of a server.
        port: Port of the user interface.

    Raises:
        UserError: The database does not exist or is not MLflow's, or the server does not answer.
    """
    if (path := database_path(uri)) and not database_exists(path):
        raise UserError(f"there is no {path} yet: run `fedatlas track --all` first")
    with connect(uri) as client:
        address = f"http://127.0.0.1:{port}" if path else uri.rstrip("/")
        print(f"MLflow: {address}/#/experiments?{TRAINING}")
        for experiment in client.search_experiments(order_by=["name"]):
            for size in sorted(tag.removeprefix(VIEW + KEY) for tag in experiment.tags if tag.startswith(VIEW + KEY)):
                print(f"  {experiment.name}, {size}: {address}/{_link(size, experiment.experiment_id)}")
    if path:
        print("Ctrl-C stops it.", flush=True)
        options = ["--workers", "1", "--port", str(port), "--backend-store-uri", uri]
        options += ["--artifacts-destination", str(artifact_folder(path))]
        os.execve(sys.executable, [sys.executable, "-m", "mlflow", "ui", *options], os.environ | ENVIRONMENT)
