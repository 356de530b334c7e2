"""fedatlas: an executable atlas of federated optimisation."""
