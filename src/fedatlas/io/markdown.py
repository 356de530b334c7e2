"""Text of experiment files in Markdown."""

import re

_SPECIAL = re.compile(r"([\\*_{}\[\]>#|~!]|^[-+])")


def escape_markdown(text: str) -> str:
    """Return text, on one line, that Markdown shows as it is; code between backticks stays code."""
    parts = " ".join(text.split()).split("`")
    for index, part in enumerate(parts):
        if index % 2:
            parts[index] = f"`{part}`" if part else ""
        else:
            parts[index] = _SPECIAL.sub(r"\\\1", part).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(parts)
