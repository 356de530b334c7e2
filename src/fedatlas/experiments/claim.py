"""A claim of a paper as a record."""

from dataclasses import dataclass
from typing import Any, Literal

from fedatlas.options import option

Size = Literal["smoke", "laptop", "paper"]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of the paper, and a check of it."""

    text: str = option(doc="the claim in the paper's words or nearly so")
    source: str = option(doc="where the paper makes it")
    sizes: list[Size] | None = option(None, doc="sizes at which it is tested; by default all")
    note: str | None = option(None, doc="why a tolerance was chosen, or why the claim fails if that is known")
    check: dict[str, Any] = option(doc="kind of the check, and its options", family="check")

    def tested_at(self, size: str) -> bool:
        """Whether the claim is tested at a size."""
        return self.sizes is None or size in self.sizes
