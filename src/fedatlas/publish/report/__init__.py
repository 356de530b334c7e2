"""The HTML report, the facts of an experiment that it tells, and the gallery."""
