"""Data sets: where they come from, how they are read and how they are prepared.

`fedatlas.data.store` turns raw files, which lie in the data directory, in a mirror or at their official address, into
arrays on disk. `fedatlas.data.prepared` opens these arrays; it knows nothing of where they came from. A data set is an
entry of `fedatlas.data.catalogue`, and `fedatlas.data.sources` finds it by its name. A `fedatlas.federation.partitions.partition` says
which samples each client has; the kinds of partition are in `fedatlas.federation.partitions`.
"""
