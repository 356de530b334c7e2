"""What follows from run files: claims, comparisons of algorithms, simulated seconds, figures."""
