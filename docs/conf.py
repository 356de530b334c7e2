"""The site: `make docs` builds it in docs/_build.

Its source folder is the repository, so every link between pages works on the site and in a view of the repository. The
gallery is a page of Markdown and not of sphinx-gallery, because its figures come from hours of runs that the workflow
makes and the repository holds, while sphinx-gallery draws figures by scripts when the site is built.
"""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # the extension from_code

project = "fedatlas"
author = copyright = "the fedatlas developers"
version = release = version_of("fedatlas")

root_doc = "docs/index"
include_patterns = ["docs/**", "config/README.md", "config/experiments/README.md", "benchmarks/README.md", "*.md"]
exclude_patterns = [
    "docs/_build",
    "docs/from_code",
    "docs/reference/algorithms/table.md",
    "README.md",
    "**/.*",
    "results",
    "data",
]

extensions = [
    "from_code",
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_argparse_cli",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
nb_execution_mode = "off"  # the notebook holds its outputs; `make notebook` writes it

autodoc_typehints = "none"
autodoc_member_order = "bysource"
nitpicky = True
smartquotes = False
nitpick_ignore_regex = [("py:class", ".*")]  # types in docstrings are words

html_theme = "furo"
html_title = "fedatlas"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_additional_pages = {"index": "redirect.html"}
templates_path = ["templates"]
html_theme_options = {"navigation_with_keys": True}
html_copy_source = False
copybutton_exclude = ".linenos, .gp, .go"
