"""The HTML report, and the record of what is told about an experiment."""
