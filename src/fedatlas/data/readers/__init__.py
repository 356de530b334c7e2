"""How files become arrays: one module per format.

Every module has ``read(paths, source, options, out)``: `paths` are the files of the form in its order, `source` what
must come out, `options` the form's own, and `out` a `fedatlas.data.store.Writer` that takes the arrays ``X``, ``y``,
``X_test``, ``y_test``. What is wrong with a file is a UserError that names it and, for text, the line.
"""

from importlib import import_module


def reader(name: str):
    """The module that reads a format."""
    return import_module(f"{__name__}.{name}")
