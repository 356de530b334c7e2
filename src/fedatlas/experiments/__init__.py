"""From configuration to run specifications to results."""
