"""Results in MLflow: for each size a report run, and a run for each algorithm and setting."""

from fedatlas.publish.tracking.log import TrackingError, log, serve_ui, validate

__all__ = ["TrackingError", "log", "serve_ui", "validate"]
