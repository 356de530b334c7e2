"""Graphs over which clients of decentralised algorithms exchange vectors."""
