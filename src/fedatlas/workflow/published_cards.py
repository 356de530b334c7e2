"""The cards of the verdicts that are committed with the gallery, for reports and MLflow."""

from pathlib import Path

from fedatlas.publish.report.cards import Card, GalleryState, make_cards
from fedatlas.publish.report.headlines import read_headlines
from fedatlas.publish.report.verdicts import read_claims
from fedatlas.workflow.records import record_paths
from fedatlas.workflow.study import Study
from fedatlas.workflow.times import paper_hours

VERDICTS = "docs/gallery/claims.csv"


def published_cards(study: Study) -> list[Card]:
    """Return the cards; none if the study has no gallery. They have no figures and no tables of the papers."""
    if not Path(VERDICTS).exists():
        return []
    claims = read_claims(Path(VERDICTS))
    unrecorded = {*zip(claims["size"], claims["experiment"], strict=True)} - set(record_paths(study))
    return make_cards(read_headlines(), GalleryState(claims, {}, unrecorded, {}, {}, paper_hours()))
