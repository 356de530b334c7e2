"""Kinds, their options, and the modules of kinds that studies and installed packages add."""
