"""A comparison of algorithms in the shell, as a page, as TeX and as CSV."""
