"""``python -m fedatlas`` is the command ``fedatlas``."""

from fedatlas.cli import command

command()
