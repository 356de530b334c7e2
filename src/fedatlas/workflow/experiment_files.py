"""The files of experiments that a study can name: its own, and those that the package carries."""

import re
from pathlib import Path
from typing import Any

from fedatlas.errors import nearest
from fedatlas.experiments import experiment_file
from fedatlas.experiments.numbering import PaperItem, find_items, parse_name
from fedatlas.experiments.specification import Experiment

FOLDER = "config/experiments"
NAME = r"\w[\w-]*"  # of an experiment; the wildcard of the workflow holds the same letters


class ExperimentFiles:
    """Files of experiments by name.

    Attributes:
        own: Paths of the study's experiments.
        comparisons: Paths of the experiments that `fedatlas compare` wrote.
        paths: Paths of all experiments that the study can name.
        shipped: Folder of the atlas's experiments, or None if those are the study's.
    """

    def __init__(self, root: Path, folder: str, shipped: Path | None = None, comparisons: Path | None = None) -> None:
        """Find the files.

        Args:
            root: Folder of the study.
            folder: Folder of its experiments, relative to root.
            shipped: Folder of the atlas's experiments, or None. A name that both have means the study's file.
            comparisons: Folder of the experiments that `fedatlas compare` wrote, or None.
        """
        path = root / folder
        is_own = shipped is not None and shipped.exists() and path.exists() and path.samefile(shipped)
        self.root, self.shipped = root, None if is_own else shipped
        self.own, self.comparisons = _find_files(path), _find_files(comparisons) if comparisons else {}
        others = _find_files(self.shipped) if self.shipped else {}
        self.paths = {**self.own, **others, **self.comparisons, **self.own}
        self._folders = [*([self.shipped] if self.shipped else []), path]

    def load(self, name: str, size: str) -> Experiment:
        """Load an experiment at a size.

        Its ``file`` is relative to the folder that holds ``config/``, so that no result depends on where it lies.

        Raises:
            UserError: The file is wrong; the message names file and key, see `experiment_file.load`.
        """
        is_here = name in self.own or name in self.comparisons or self.shipped is None
        root = self.root if is_here or self.shipped is None else self.shipped.parents[1]
        return experiment_file.load(self.paths[name], size, root, self._folders)

    def document(self, name: str) -> Any:
        """Return the content of an experiment's file, laid over the file that it extends."""
        return experiment_file.document(self.paths[name], self._folders)

    def bases(self, name: str) -> list[str]:
        """Return the names of the experiments that an experiment extends, the nearest first."""
        names = [name]
        while (base := experiment_file.extended(self.paths[names[-1]])) in self.paths and base not in names:
            names.append(base)
        return names[1:]

    def title(self, name: str) -> str:
        """Return the title in an experiment's file, or an empty text, from its line alone: loading takes long."""
        text = self.paths[name].read_text(encoding="utf-8", errors="replace")
        match = re.search(r"""^title: *(["']?)(.*)\1 *$""", text, re.MULTILINE)
        return match[2] if match else ""

    def explain_missing(self, name: str) -> str:
        """Say that there is no experiment of a name, and which the user may mean."""
        if figure := self.explain_figure(name):
            return f"there is no experiment {name!r}: {figure}; ask for an experiment by its name"
        guess = nearest(name, self.paths) or "; `fedatlas list experiments` names them all"
        return f"there is no experiment {name!r}{guess}"

    def explain_figure(self, name: str) -> str:
        """Say which experiment re-runs a figure or table, as in ``Figure 3 is a part of fedac_fig1``.

        Args:
            name: A name such as ``fedac_fig3``.

        Returns:
            A clause for people; empty if the name asks for no figure or table, or if no experiment begins like it.
        """
        prefix, number = parse_name(name) or ("", None)
        names = [name for name in self.paths if name.partition("_")[0] == prefix]
        if number is None or not names:
            return ""
        sources = {name: self._sources(name) for name in names}
        for position, verb in enumerate(("is a part of", "is the subject of claims in")):
            matches = {
                name: item for name in names for item in find_items(sources[name][position]) if item.covers(number)
            }
            if matches:
                item = next(iter(matches.values()))
                *rest, last = matches
                experiments = f"{', '.join(rest)} and {last}" if rest else last
                return f"{PaperItem(item.noun, item.number, number.part)} {verb} {experiments}"
        return f"no experiment of {prefix} re-runs {number}; `fedatlas list experiments` shows what each re-runs"

    def _sources(self, name: str) -> tuple[str, str]:
        """Return the sources of an experiment and of its claims."""
        document = self.document(name)
        document = document if isinstance(document, dict) else {}
        claims = document.get("claims")
        claims = claims.values() if isinstance(claims, dict) else ()
        sources = (str(claim.get("source", "")) for claim in claims if isinstance(claim, dict))
        return str(document.get("source", "")), "; ".join(sources)


def _find_files(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.glob("[!.]*.yaml"))}
