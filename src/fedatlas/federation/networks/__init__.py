"""Networks as problems, in torch."""
