"""A claim of a paper as a record."""

from dataclasses import dataclass
from typing import Any, Literal

from fedatlas.registry.options import option

Size = Literal["smoke", "laptop", "paper"]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of the paper, and a check of it."""

    text: str = option(doc="the claim in the paper's words or nearly so")
    source: str = option(doc="where the paper makes it")
    sizes: list[Size] | None = option(None, doc="sizes at which it is tested; by default all")
    note: str | None = option(None, doc="why a tolerance was chosen, or why the claim fails if that is known")
    interpretation: str | None = option(
        None, doc="how the sentence is read, where it has several meanings: each is a claim"
    )
    check: dict[str, Any] = option(doc="kind of the check, and its options", family="check")
    vacuous: dict[str, Any] | None = option(
        None, doc="a check that, where it holds, leaves nothing to compare: the verdict is vacuous", family="check"
    )

    @property
    def checks(self) -> list[dict[str, Any]]:
        """The claim's checks."""
        return [self.check, *([self.vacuous] if self.vacuous is not None else [])]

    def tested_at(self, size: str) -> bool:
        """Return whether the claim is tested at a size."""
        return self.sizes is None or size in self.sizes
