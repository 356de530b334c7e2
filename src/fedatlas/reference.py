"""``python -m fedatlas.reference``: writes the reference of options and the schema of experiment files."""

import json
from pathlib import Path

from fedatlas.files import atomic
from fedatlas.overview import reference
from fedatlas.workflow.schema import experiment_schema

PAGE, SCHEMA = Path("docs/reference/options.md"), Path("workflow/schemas/experiment.schema.json")


def pages() -> dict[Path, str]:
    """What the files must hold."""
    return {PAGE: reference(), SCHEMA: json.dumps(experiment_schema(), indent=1, ensure_ascii=False) + "\n"}


if __name__ == "__main__":
    for path, text in pages().items():
        with atomic(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
