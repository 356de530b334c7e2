"""Rounds, client tables, participation and the array helpers that algorithms use."""
