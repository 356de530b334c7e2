"""What an author needs of an experiment, for a paper in TeX: figures, tables, numbers, references, and where from."""
