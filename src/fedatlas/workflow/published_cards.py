"""What is committed with the gallery, for reports, MLflow and summaries: cards of its verdicts, and pictures."""

import functools
from collections.abc import Iterable
from pathlib import Path

from fedatlas.experiments import SIZES
from fedatlas.publish.report.cards import Card, make_cards
from fedatlas.publish.report.headlines import read_headlines
from fedatlas.publish.report.verdicts import read_verdicts
from fedatlas.records.lookup import record_paths
from fedatlas.workflow.study import Study
from fedatlas.workflow.times import paper_hours

VERDICTS = "docs/gallery/claims.csv"


@functools.cache
def published_cards(study: Study) -> list[Card]:
    """Return the cards; none if the study has no gallery. They have no figures."""
    if not Path(VERDICTS).exists():
        return []
    claims = read_verdicts(Path(VERDICTS))
    unrecorded = {name for _, name in study.gallery()} - {name for _, name in record_paths(study)}
    return make_cards(read_headlines(), claims, unrecorded, paper_hours())


def gallery_files(size: str, names: Iterable[str]) -> list[str]:
    """Return what the gallery has of experiments at larger sizes: its verdicts, and then pictures; nothing without it.

    Args:
        size: A size.
        names: Names of experiments.
    """
    if not Path(VERDICTS).exists():
        return []
    larger = SIZES[SIZES.index(size) + 1 :]
    folders = [Path(VERDICTS).parent / other / name for name in names for other in larger]
    return [VERDICTS, *(str(path) for folder in folders for path in sorted(folder.glob("*.png")))]
