"""Studies in temporary folders, which are the working directory of a test."""

import sys

import pytest

from fedatlas.registry import extensions


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A function that writes files, by path, into a study's folder, and returns the folder."""
    monkeypatch.delenv(extensions.VARIABLE, raising=False)
    folder = tmp_path / "study"
    (folder / "config").mkdir(parents=True)
    (folder / extensions.CONFIG).write_text("size: smoke\n")
    monkeypatch.chdir(folder)
    extensions._installed_modules.cache_clear()
    monkeypatch.setattr(extensions, "_path_entries", [])
    monkeypatch.setattr(sys, "path", [*sys.path])
    modules = dict(sys.modules)

    def write(files):
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return folder

    yield write
    fresh = {name: module for name, module in sys.modules.items() if modules.get(name) is not module}
    for name in [name for name, module in fresh.items() if _lies_in(tmp_path, module)]:
        del sys.modules[name]
    extensions._installed_modules.cache_clear()


def _lies_in(folder, module):
    attributes = vars(module)  # a package of a folder has no file
    places = [attributes.get("__file__"), *attributes.get("__path__", ())]
    return any(str(place).startswith(str(folder)) for place in places)
