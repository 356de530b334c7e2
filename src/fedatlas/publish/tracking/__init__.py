"""Results in MLflow: for each size a report run, and a run for each algorithm and setting."""

from fedatlas.publish.tracking.connection import TrackingError, serve_ui
from fedatlas.publish.tracking.log import log

__all__ = ["TrackingError", "log", "serve_ui"]
