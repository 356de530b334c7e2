"""Links lead somewhere, code blocks name keys that exist, and pages of the reference are those of the code."""

import ast
import re
from pathlib import Path

import pytest
import yaml
from from_code.reference import pages as reference_pages
from from_code.schema import experiment_schema
from jsonschema import Draft202012Validator

from tests.docs.blocks import PAGES, ROOT, blocks

GENERATED = ROOT / "docs/reference/algorithms"  # when the site is built
LINK = re.compile(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"")
LANGUAGES = {"", "bash", "python", "yaml", "snakemake", "csv", "bibtex", "{toctree}", "{include}", "{eval-rst}"}
TESTED = ("adding.md", "algorithm.md", "checking.md", "data.md", "python.md")  # have tests of their own


def anchors(path):
    """Return the anchors that GitHub gives the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    heads = [re.sub(r"\[(.*?)\]\(.*?\)", r"\1", head) for head in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
    return {re.sub(r"[^\w\- ]", "", head.replace("\\", "").lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_leads_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.M | re.S)
    for link in {first or second for first, second in LINK.findall(text)}:
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), link


def test_every_page_is_on_the_site():
    """Each page is in a table of contents; README.md is the front page of the repository."""
    listed = {Path("docs/index.md"), Path("README.md")}
    for page in PAGES:
        for block in blocks(page):
            if block.language == "{toctree}":
                lines = [line for line in block.text.splitlines() if line and not line.startswith(":")]
                names = [re.sub(r".*<(.*)>", r"\1", line) for line in lines]
                listed |= {
                    path.resolve().relative_to(ROOT) for name in names for path in _matching(ROOT / page.parent, name)
                }
    assert {page for page in PAGES if GENERATED not in (ROOT / page).parents} <= listed


def _matching(folder, name):
    """Return the files that an entry of a table of contents, which may be a pattern, names."""
    return folder.glob(f"{name}.md") if "*" in name else [folder / f"{name}.md"]


def test_every_key_of_experiments_and_configuration_exists():
    schema = experiment_schema()
    validator = Draft202012Validator({key: value for key, value in schema.items() if key != "required"})
    settings = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text())
    count = 0
    for page in PAGES:
        if page.name in TESTED:
            continue
        for block in blocks(page):
            if block.language == "yaml":
                content = yaml.safe_load(block.text)
                is_config = set(content) <= set(settings["properties"])
                block_validator = Draft202012Validator(settings) if is_config else validator
                errors = [f"{page}: {e.json_path}: {e.message}" for e in block_validator.iter_errors(content)]
                assert not errors
                count += 1
    assert count > 10


def test_every_block_is_of_a_language_that_tests_read():
    for page in PAGES:
        for block in blocks(page):
            assert block.language in LANGUAGES, (page, block.language)
            if block.language == "python":
                ast.parse(block.text)


def test_pages_of_the_reference_are_those_that_the_code_declares():
    outdated = [path for path, text in reference_pages().items() if (ROOT / path).read_text(encoding="utf-8") != text]
    assert not outdated, "run `make reference`"
