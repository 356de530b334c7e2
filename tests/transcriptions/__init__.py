"""Transcriptions of the papers' pseudocode: slow and plain, one client and one vector at a time.

`fedatlas.testing.transcriptions` says how they are written, finds them by the names of their algorithms and
compares them with runs.
"""
