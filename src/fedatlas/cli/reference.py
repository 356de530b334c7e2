"""``python -m fedatlas.cli.reference``: writes pages about options and experiments, and the schema of experiment files."""

import json
from pathlib import Path

from fedatlas.cli.overview import reference
from fedatlas.io.files import atomic
from fedatlas.workflow.experiments_page import page
from fedatlas.workflow.project import here
from fedatlas.workflow.schema import experiment_schema

OPTIONS, EXPERIMENTS = Path("docs/reference/options.md"), Path("docs/reference/experiments.md")
SCHEMA = Path("workflow/schemas/experiment.schema.json")


def pages() -> dict[Path, str]:
    """What the files must hold."""
    schema = json.dumps(experiment_schema(), indent=1, ensure_ascii=False) + "\n"
    return {OPTIONS: reference(), EXPERIMENTS: page(here()), SCHEMA: schema}


if __name__ == "__main__":
    for path, text in pages().items():
        with atomic(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
