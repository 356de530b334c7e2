"""Schedules of the step size. A module here that defines a schedule is found by itself."""

from fedatlas.federation.schedules.base import Schedule
from fedatlas.registry.kinds import Family

__all__ = ["SCHEDULES", "Schedule"]

SCHEDULES: Family[Schedule] = Family("schedule", __name__, Schedule)
