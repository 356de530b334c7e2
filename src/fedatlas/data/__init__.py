"""Data sets: their sources, their files and their prepared arrays.

`fedatlas.data.store` turns raw files, which lie in the data directory, in a mirror or at their official address, into
arrays on disk. `fedatlas.data.dataset` opens these arrays and needs no knowledge of their origin. A data set is an
entry of `fedatlas.data.catalogue`, or a user's own; `fedatlas.data.sources` finds both.
"""
