"""Results in MLflow: for each size a report run, and a run for each algorithm and setting."""

from fedatlas.publish.tracking.connection import TrackingError
from fedatlas.publish.tracking.log import log
from fedatlas.publish.tracking.page import serve_ui

__all__ = ["TrackingError", "log", "serve_ui"]
