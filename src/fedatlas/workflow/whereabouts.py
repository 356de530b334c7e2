"""Which experiment re-runs a figure or table that is asked for by a name such as ``fedac_fig3``."""

from fedatlas.experiments.numbering import PaperItem, find_items, parse_name
from fedatlas.workflow.experiment_files import ExperimentFiles


def sentence(files: ExperimentFiles, name: str) -> str:
    """Where a figure or table is, for people: ``Figure 3 is a part of fedac_fig1``.

    Empty where the name asks for no figure or table, or where no experiment has the beginning of the name.
    """
    question = parse_name(name)
    beginning, wanted = question or ("", None)
    names = [one for one in files.paths if one.partition("_")[0] == beginning]
    if wanted is None or not names:
        return ""
    sources = {one: _sources(files, one) for one in names}
    for place, verb in enumerate(("is a part of", "is the subject of claims in")):
        found = {one: each for one in names for each in find_items(sources[one][place]) if each.covers(wanted)}
        if found:
            first = next(iter(found.values()))
            return f"{PaperItem(first.noun, first.number, wanted.part)} {verb} {_listed(list(found))}"
    return f"no experiment of {beginning} re-runs {wanted}; `fedatlas list experiments` shows what each re-runs"


def _sources(files: ExperimentFiles, name: str) -> tuple[str, str]:
    """What an experiment re-runs, and what its claims are about."""
    whole = files.document(name)
    whole = whole if isinstance(whole, dict) else {}
    claims = whole.get("claims")
    claims = claims.values() if isinstance(claims, dict) else ()
    return str(whole.get("source", "")), "; ".join(
        str(one.get("source", "")) for one in claims if isinstance(one, dict)
    )


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
