"""Extensions: modules outside the package that define kinds as its own modules do.

They lie in a study, a folder of one's own, and are named by the key ``extensions`` of its config/config.yaml: Python
files, and folders of them. A module of a study has its path from the study's folder as its full name:
``extensions/my_algorithm.py`` is ``extensions.my_algorithm``. Installed packages join by an entry point of the group
``fedatlas.extensions``, whose value is a module or a package.

The study is that of the working directory. Jobs are told it by an environment variable, wherever they run.
"""

from fedatlas.registry.extensions.finding import file, modules, place, placed
from fedatlas.registry.extensions.loading import frames, load, said, told, use, used
from fedatlas.registry.extensions.settings import CONFIG, DEFAULT, VARIABLE, Study, study, written

__all__ = [
    "CONFIG",
    "DEFAULT",
    "VARIABLE",
    "Study",
    "file",
    "frames",
    "load",
    "modules",
    "place",
    "placed",
    "said",
    "study",
    "told",
    "use",
    "used",
    "written",
]
