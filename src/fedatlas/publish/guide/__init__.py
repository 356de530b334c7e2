"""A page that answers which method is good when, from the results of a suite."""
