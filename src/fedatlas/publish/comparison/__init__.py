"""A comparison of algorithms in the shell, as a page and as CSV."""
