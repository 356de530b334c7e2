"""Text of experiment files in Markdown."""

import re

_SPECIAL = re.compile(r"([\\*_{}\[\]>#|~!]|^[-+])")


def escaped(text: str) -> str:
    """Text, on one line, that Markdown shows as it is; what stands between backticks is code."""
    parts = " ".join(text.split()).split("`")
    for number, part in enumerate(parts):
        if number % 2:
            parts[number] = f"`{part}`" if part else ""
        else:
            parts[number] = _SPECIAL.sub(r"\\\1", part).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(parts)
