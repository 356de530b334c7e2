import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))  # from_code, an extension of Sphinx
