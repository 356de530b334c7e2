"""Federated optimisation itself: problems, clients, algorithms, and the engine that runs rounds."""
