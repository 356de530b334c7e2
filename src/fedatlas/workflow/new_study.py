"""`fedatlas init`: a new study, a folder that runs at once."""

import re
import shutil
from pathlib import Path

from fedatlas.errors import UserError
from fedatlas.io.files import atomic_folder
from fedatlas.workflow.project import shipped

TEMPLATE = Path(__file__).with_name("study")
NAME = "my-study"  # in the template


def create(place: str) -> Path:
    """Write a new study, whole or not at all, and return its folder.

    place: path of the folder, which may be there if it is empty. Raises UserError if its name is none, if something
    lies there, or if it cannot be written.
    """
    folder = Path(place)
    if not re.fullmatch(r"\w[\w.-]*", folder.name):
        raise UserError(f"{place!r} is no name for a study: it must consist of letters, digits, '_', '-' and '.'")
    if folder.is_dir() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty: give the name of a new folder")
    with atomic_folder(folder) as temporary:
        shutil.copytree(TEMPLATE, temporary, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(shipped() / "workflow/profiles", temporary / "profiles")
        (temporary / "gitignore").rename(temporary / ".gitignore")
        readme = temporary / "README.md"
        readme.write_text(readme.read_text(encoding="utf-8").replace(NAME, folder.name), encoding="utf-8")
    return folder
