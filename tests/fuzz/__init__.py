"""Fuzzing: three targets under hostile inputs."""

from tests.fuzz.command_line import COMMAND_LINE
from tests.fuzz.experiment import EXPERIMENT
from tests.fuzz.own_data import OWN_DATA

TARGETS = {target.name: target for target in (COMMAND_LINE, EXPERIMENT, OWN_DATA)}
