"""What can be found wrong with the data of a problem's specification without loading them."""

from fedatlas.data.partition import kinds
from fedatlas.data.sources import info
from fedatlas.errors import lookup
from fedatlas.problems.base import ProblemKind, Sources


def check(kind: ProblemKind, sources: Sources | None) -> None:
    """Raise UserError if a problem names data sets or a kind of partition that there are not.

    kind, sources: see `fedatlas.problems.parse`, which has checked the kind's own options.
    """
    if sources is None:
        return
    for name in (sources.data, sources.test):
        if name:
            info(name)
    if sources.partition is not None:
        how = sources.partition if isinstance(sources.partition, str) else sources.partition.get("kind", "iid")
        lookup("partition", how, {name: name for name in kinds()})
