"""The code behind reruns: which modules differ between the fingerprints that Snakemake gives as a reason."""

import re
from collections import Counter

CHANGE = re.compile(r"before: (?P<before>.*) now: (?P<now>.*)", re.DOTALL)
MODULE = re.compile(r"(?<!\S)'?(?P<name>[\w.]+) (?P<hash>[0-9a-f]{16})\b")


def changed_modules(reason: str) -> set[str]:
    """Return the modules whose fingerprints differ in the reason of a job, of those that are in both.

    Args:
        reason: Snakemake's reason, with the parameters before and now.
    """
    change = CHANGE.search(reason)
    if change is None:
        return set()
    before, now = (dict(MODULE.findall(change[key])) for key in ("before", "now"))
    return {name for name in before.keys() & now.keys() if before[name] != now[name]}


def describe(counts: Counter[str]) -> str:
    """Return the modules that have changed in a sentence. counts: Number of jobs by module."""
    modules = [f"{name} ({count} {'job' if count == 1 else 'jobs'})" for name, count in counts.most_common()]
    return f"Changed code, with all that it imports: {', '.join(modules)}"
