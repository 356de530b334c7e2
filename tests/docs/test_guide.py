"""The page "Which method, when?" in the site: it is written as a build ends, and links lead to and from it."""

import re
from pathlib import Path
from types import SimpleNamespace

import from_code
import pytest
from from_code import algorithms

PAGE = Path(algorithms.GUIDE)
METHODS = ("fedavg", "scaffold", "dane+-gd")


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Build the site, as Sphinx calls the hook, and return what the page was asked to be."""
    written = []
    monkeypatch.setattr(from_code, "write_guide", lambda study, out, pages: written.append((study, out, pages)))

    def build(error=None, format="html"):
        hooks = {}
        app = SimpleNamespace(builder=SimpleNamespace(format=format), outdir=str(tmp_path))
        app.setup_extension = app.add_lexer = lambda *_: None
        app.connect = lambda event, hook: hooks.setdefault(event, []).append(hook)
        from_code.setup(app)
        for hook in hooks["build-finished"]:
            if hook.__module__ == "from_code":
                hook(app, error)
        return written

    return build


def test_it_is_written_where_links_lead_to_pages_of_algorithms_and_back(build, tmp_path):
    ((study, out, folder),) = build()
    assert study.view("smoke", "landscape").cases and out == tmp_path / PAGE
    pages = algorithms.pages()
    for name in METHODS:
        path = PAGE.parent / folder / f"{name.replace('+', 'plus')}.md"
        link = re.search(r'<a href="([^"]*)">Where it wins', pages[path.as_posix()])[1]
        assert (tmp_path / path).parent.joinpath(link).resolve() == out.resolve()
