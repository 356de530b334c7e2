"""The page "Which method, when?": one HTML file that opens offline."""

import json
from pathlib import Path
from typing import Any

from fedatlas.errors import UserError
from fedatlas.experiments import SIZES
from fedatlas.io.files import write_text
from fedatlas.publish.guide.content import build_content
from fedatlas.publish.report.page import SHARED, TABLES, create_environment, read_resources
from fedatlas.publish.report.tables import compress
from fedatlas.records.lookup import lacking_cells, record_paths
from fedatlas.records.results import find_record, record_tables
from fedatlas.workflow.comparison import SUITE
from fedatlas.workflow.study import Study

HERE = Path(__file__).parent


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
