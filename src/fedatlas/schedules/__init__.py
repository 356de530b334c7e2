"""Schedules of the step size. A module here that defines a schedule is found by itself."""

from fedatlas.kinds import Family
from fedatlas.schedules.base import Schedule

__all__ = ["SCHEDULES", "Schedule"]

SCHEDULES: Family[Schedule] = Family("schedule", __name__, Schedule)
