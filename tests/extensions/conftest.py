"""Studies in temporary folders, which are the working directory of a test."""

import pytest

from fedatlas.registry import extensions
from fedatlas.registry.extensions import discovery, loading


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A function that writes files, by path, into a study's folder, and returns the folder."""
    monkeypatch.delenv(extensions.VARIABLE, raising=False)
    folder = tmp_path / "study"
    (folder / "config").mkdir(parents=True)
    (folder / extensions.CONFIG).write_text("size: smoke\n")
    monkeypatch.chdir(folder)
    discovery._installed_modules.cache_clear()
    loading._active.clear()

    def write(files):
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return folder

    yield write
    discovery._installed_modules.cache_clear()
