"""``python -m fedatlas`` is the command ``fedatlas``."""

from fedatlas.cli.main import command

command()
