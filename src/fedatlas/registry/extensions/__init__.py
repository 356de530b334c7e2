"""Extensions: modules outside the package that define kinds as the package's own modules do.

They lie in a study and are named by the key ``extensions`` of its config/config.yaml: Python files, and folders of
them. The full name of a study's module is its path from the study's folder: ``extensions/my_algorithm.py`` is
``extensions.my_algorithm``. Installed packages join by an entry point of the group ``fedatlas.extensions``, whose value
is a module or a package.

The study is that of the working directory. Jobs, which may run elsewhere, read it from an environment variable.
"""

from fedatlas.registry.extensions.discovery import (
    CONFIG,
    DEFAULT_PATHS,
    VARIABLE,
    Study,
    describe,
    environment_value,
    find_file,
    location,
    modules,
    study,
)
from fedatlas.registry.extensions.loading import (
    activate,
    active_files,
    explain,
    load,
    traceback_lines,
    translate_errors,
)

__all__ = [
    "CONFIG",
    "DEFAULT_PATHS",
    "VARIABLE",
    "Study",
    "activate",
    "active_files",
    "describe",
    "environment_value",
    "explain",
    "find_file",
    "load",
    "location",
    "modules",
    "study",
    "traceback_lines",
    "translate_errors",
]
