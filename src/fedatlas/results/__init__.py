"""Results of run files: claims, comparisons of algorithms, simulated seconds, figures."""
