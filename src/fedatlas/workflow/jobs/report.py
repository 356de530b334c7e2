"""Reports over experiments."""

from collections.abc import Sequence
from pathlib import Path

from fedatlas.io.formats import write_csv
from fedatlas.publish.report.facts import read_verdicts, to_frame
from fedatlas.publish.report.page import write_report


def make(out: str, folders: Sequence[str], gallery: Sequence[str] = (), study: str = "fedatlas") -> None:
    """Write a report, and beside it the claims of all its experiments as claims.csv.

    Args:
        out: Path of the report.
        folders: Folder of about.json, table.parquet, claims.csv and figures of each experiment.
        gallery: The claims.csv of the committed gallery and pictures beside it, if it exists.
        study: Title of the study.
    """
    claims = Path(out).with_name("claims.csv")
    sources = [Path(folder) / "claims.csv" for folder in folders]
    if claims not in sources:
        write_csv(claims, to_frame([row for source in sources for row in read_verdicts(source)]))
    verdicts = next(map(Path, gallery), None)
    write_report([Path(folder) for folder in folders], Path(out), verdicts=verdicts, study=study)
