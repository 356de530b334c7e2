"""The bibliography: whole, readable and with all that the atlas cites."""

import re

import pytest

from fedatlas.errors import UserError
from fedatlas.publish import citations
from fedatlas.registry import bibliography

NEEDED = {"article": {"journal"}, "inproceedings": {"booktitle"}, "incollection": {"booktitle"}, "book": {"publisher"}}
NEEDED |= {"techreport": {"institution"}, "misc": {"howpublished"}}


@pytest.mark.parametrize("key", bibliography.entries())
def test_entries_are_whole(key):
    entry = bibliography.entry(key)
    assert entry.text.count("{") == entry.text.count("}")
    assert {"title", "year"} | NEEDED[entry.kind] <= set(entry.fields)
    assert re.fullmatch(r"\d{4}", entry.fields["year"])


@pytest.mark.parametrize("key", bibliography.entries())
def test_references_read_as_plain_text(key):
    result = bibliography.reference(key)
    assert result.title and result.venue and result.short
    assert not re.search(r"[{}\\]", " ".join(vars(result).values()))


def test_authors_and_accents():
    result = bibliography.reference("mcmahan2017")
    assert result.authors == "B. McMahan, E. Moore, D. Ramage, S. Hampson, B. Agüera y Arcas"
    assert result.short == "McMahan et al."
    assert result.venue == "International Conference on Artificial Intelligence and Statistics, PMLR 54, 1273–1282"
    assert "J. Konečný" in bibliography.reference("reddi2021").authors
    assert bibliography.reference("khaled2023").short == "Khaled & Jin"
    assert bibliography.reference("yuan2020").short == "FedAc"  # the short title, the name of the method


def test_unknown_names():
    with pytest.raises(UserError, match="did you mean 'fedavg'"):
        citations.cite(["fedavgg"])
    with pytest.raises(UserError, match=r"references\.bib has no entry 'x'"):
        bibliography.entry("x")
