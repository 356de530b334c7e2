"""From configuration to run specifications to results."""

SIZES = ("smoke", "laptop", "paper")  # of an experiment, ascending
