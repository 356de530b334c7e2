"""The engine: rounds, client states, sampling, costs and checkpoints."""
