"""The metadata of result files, as records."""
