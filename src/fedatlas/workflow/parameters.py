"""The parameters of a rule's jobs, which Snakemake compares to find out what to make again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedatlas.workflow.graph import Graph


@dataclass(frozen=True)
class Parameters:
    """The parameters of the jobs of a rule, by their wildcards and inputs."""

    graph: "Graph"
    rule: str

    def code(self, w: Any) -> str:
        """Return the code of a job; see `Graph.code`."""
        return self.graph.code(self.rule, w)

    def digest(self, w: Any) -> str:
        """Return the digest of a job's specification."""
        return self.graph.digest(self.rule, w)

    def spec(self, w: Any, input: Sequence[str]) -> str:
        """Return what a job reads; see `Graph.specification`."""
        return self.graph.specification(self.rule, w, input)
