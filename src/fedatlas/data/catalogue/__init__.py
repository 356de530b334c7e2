"""The data sets, one entry each. Adding one is adding an entry here and its citation to ``sources.bib``."""

from fedatlas.data.catalogue import embedded, images, libsvm

__all__ = ["embedded", "images", "libsvm"]
