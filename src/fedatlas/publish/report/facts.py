"""The facts of an experiment for pages and MLflow: everything but its numbers, as about.json holds them."""

from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.io.text import read_json

FACTS_FILE = "about.json"  # in the folder of an experiment's results
KEYS = frozenset({"name", "size", "title", "paper", "figures", "algorithms", "axes", "select", "content", "tuning"})

Facts = dict[str, Any]  # JSON types; `fedatlas.publish.report.facts_builder.build_facts` names the keys


def read_facts(path: str | Path) -> Facts:
    """Return the facts in a file.

    Raises:
        UserError: The file does not exist or does not hold facts.
    """
    content = read_json(path)
    if not isinstance(content, dict) or (missing := sorted(KEYS - content.keys())):
        lack = f" (it lacks {', '.join(missing)})" if isinstance(content, dict) else ""
        raise UserError(f"{path} does not describe an experiment{lack}; `snakemake` makes it again")
    return content
