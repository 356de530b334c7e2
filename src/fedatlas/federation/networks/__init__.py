"""What needs torch: networks as problems."""
