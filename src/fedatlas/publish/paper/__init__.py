"""Files for a paper in TeX, from the results of an experiment: figures, tables, numbers, references, sources."""
