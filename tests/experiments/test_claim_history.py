"""The history of claims: dates of their checks."""

from pathlib import Path

import pytest

from fedatlas.errors import UserError
from fedatlas.experiments import claim_history
from fedatlas.experiments.experiment_file import document, load

ROOT = Path(__file__).parents[2]

NAME = "fedac_fig1"


@pytest.fixture
def study(tmp_path):
    """A folder with an experiment whose history is of yesterday."""
    text = (ROOT / f"config/experiments/{NAME}.yaml").read_text(encoding="utf-8")
    (tmp_path / f"{NAME}.yaml").write_text(text, encoding="utf-8")
    rows = claim_history.update(NAME, document(tmp_path / f"{NAME}.yaml"), {}, "2001-01-01", False)
    (tmp_path / claim_history.FILE).write_text(claim_history.format_rows(rows), encoding="utf-8")
    return tmp_path


def updated(study):
    path = study / f"{NAME}.yaml"
    rows = claim_history.update(NAME, document(path), claim_history.read(study), "2002-02-02", True)
    return {row.claim: row for row in rows}


def test_a_check_keeps_its_date_until_it_changes(study):
    claims = load(study / f"{NAME}.yaml", "paper").claims
    assert {claim.changed for claim in claims.values()} == {"2001-01-01"}
    path = study / f"{NAME}.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("paper: 32}", "paper: 33}"))
    changed = load(path, "paper").claims
    assert changed["fedac-rounds"].changed is None  # the row is of another check
    assert changed["mb-sgd-rounds"].changed == "2001-01-01"
    rows = updated(study)
    assert (rows["fedac-rounds"].changed, rows["fedac-rounds"].written) == ("2002-02-02", "after")
    assert rows["mb-sgd-rounds"].changed == "2001-01-01"


@pytest.mark.parametrize(
    ("note", "results", "written"), [("", False, "before"), ("", True, "after"), ("Tried: all.", False, "after")]
)
def test_results_are_known_from_the_gallery_or_a_note(note, results, written):
    content = {"claims": {"it": {"note": note, "check": {"kind": "better"}}}, "sizes": {"laptop": None}}
    assert claim_history.update("e", content, {}, "2002-02-02", results)[0].written == written


def test_a_size_changes_the_check(study):
    content = {"claims": {"it": {"check": {"target": 1}}}, "sizes": {"laptop": None}}
    harder = content | {"sizes": {"laptop": {"claims": {"it": {"check": {"target": 2}}}}}}
    assert claim_history.digests(content) != claim_history.digests(harder)


def test_another_file_is_refused(study):
    (study / claim_history.FILE).write_text("a,b\n1,2\n")
    with pytest.raises(UserError, match="is no history of claims"):
        load(study / f"{NAME}.yaml", "paper")
