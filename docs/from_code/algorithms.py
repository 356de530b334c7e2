"""A page for each algorithm, made of its class, its transcription, the theorems and the gallery."""

import functools
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

from fedatlas.cli.list import default
from fedatlas.experiments.specification import Experiment
from fedatlas.federation.algorithms import ALGORITHMS, Algorithm
from fedatlas.io.formats import escape_markdown
from fedatlas.records.lookup import record_paths
from fedatlas.registry.bibliography import reference
from fedatlas.registry.kinds import first_paragraph
from fedatlas.registry.options import Option
from fedatlas.testing import transcriptions
from fedatlas.theory.fedac import FEDAC_THEOREMS
from fedatlas.theory.fedred import FEDRED_BOUNDS
from fedatlas.theory.fedsps import FEDSPS_BOUNDS
from fedatlas.workflow.comparison import SUITE
from fedatlas.workflow.study import Study
from from_code.docstrings import prose, rule
from from_code.formulas import SYMBOLS, Notation

ROOT = Path(__file__).parents[2]
FOLDER = "docs/reference/algorithms"
GALLERY = ROOT / "docs/gallery"
GUIDE = "docs/which-method.html"  # in the site
FACTS = {
    "corrects_drift": "Its fixed point is the optimum even if clients are heterogeneous and take several local steps.",
    "full_participation": "It is defined for full participation only.",
}
PROX = "It needs a problem with an exact proximal step, such as a quadratic."
NOTATION = "[Notation](../../concepts/glossary.md#notation)"
UP = "../../.."


def pages() -> dict[str, str]:
    """Return Markdown by path: a page for each algorithm of the atlas, and a table of them."""
    classes = {name: ALGORITHMS.get(name) for name in ALGORITHMS.builtin}
    algorithms = {cls.name: cls for cls in classes.values()}
    figures = _figures()
    table = {f"{FOLDER}/table.md": "\n".join(_table(algorithms))}
    return table | {
        f"{FOLDER}/{_file(name)}.md": "\n".join(_page(cls, figures.get(name, []))) for name, cls in algorithms.items()
    }


@functools.cache
def guide_exists() -> bool:
    """Return whether the record has the suite of the page that says which method is good when."""
    return any(name == SUITE for _, name in record_paths(Study.open()))


@functools.cache
def _suite() -> set[str]:
    """Return the names of the algorithms of the suite."""
    experiment = Study.open().experiment("laptop", SUITE)
    return {experiment.algorithm(id) for id in experiment.algorithms}


def notation(cls: type[Algorithm]) -> Notation:
    """Return the symbols of an algorithm's formulas. A step size has the letter that its meaning names."""
    symbols = dict(SYMBOLS)
    for name in {"lr", "server_lr"} & cls.options().keys():
        if letter := re.search(r"\beta(_\w)?\b", cls.options()[name].doc):
            symbols[name] = Notation(SYMBOLS).symbol(letter[0]) or symbols[name]
    return Notation(symbols, list(cls.options()))


def _file(name: str) -> str:
    return name.replace("+", "plus")


def _table(algorithms: dict[str, type[Algorithm]]) -> Iterator[str]:
    yield "| algorithm | name | what it is |\n|---|---|---|"
    for name, cls in sorted(algorithms.items(), key=lambda pair: pair[1].label.lower()):
        summary = prose(first_paragraph(cls), notation(cls))
        yield f"| [{escape_markdown(cls.label)}](algorithms/{_file(name)}.md) | `{name}` | {summary} |"


def _page(cls: type[Algorithm], figures: list[str]) -> Iterator[str]:
    letters = notation(cls)
    yield f"# {escape_markdown(cls.label)}\n"
    yield f"{prose(first_paragraph(cls), letters)}\n"
    yield f"`{cls.name}` is its name in experiment files and commands."
    if cls.aliases:
        yield f"Other names are {', '.join(f'`{name}`' for name in cls.aliases)}."
    if guide_exists() and cls.name in _suite():
        yield f'\n<a href="../../{Path(GUIDE).name}">Where it wins</a> says how it compares with the others.'
    yield "\n## Update rule\n"
    yield from _update_rule(cls, letters)
    yield f"{NOTATION}.{_legend(cls, letters)}\n"
    yield from _options(cls, letters)
    yield from _theory(cls, letters)
    yield from _source(cls)
    if figures:
        yield "## Figures\n"
        yield from figures


def _update_rule(cls: type[Algorithm], letters: Notation) -> Iterator[str]:
    """Yield the docstring after its first sentence, and the rule of the base algorithm if it has no step."""
    paragraphs = (inspect.getdoc(cls) or "").split("\n\n")[1:]
    yield from describe(paragraphs, letters)
    base = next((base for base in cls.__mro__[1:] if issubclass(base, Algorithm) and "name" in vars(base)), None)
    if base and not any("<-" in text and is_rule(text) for text in paragraphs):
        words = "All else is as in" if paragraphs else "It is that of"
        yield f"{words} [{escape_markdown(base.label)}]({_file(base.name)}.md):\n"
        inherited = (inspect.getdoc(base) or "").split("\n\n")[1:]
        yield from describe([text for text in inherited if is_rule(text) and "<-" in text], notation(base))


def is_rule(paragraph: str) -> bool:
    """Return whether a paragraph of a docstring is pseudocode: it is indented, or begins with an assignment."""
    return paragraph.startswith(" ") or bool(re.match(r"\S+ +(<-|=) ", paragraph) and "<-" in paragraph)


def describe(paragraphs: list[str], letters: Notation) -> Iterator[str]:
    """Yield paragraphs of a docstring in Markdown."""
    for text in paragraphs:
        if is_rule(text):
            yield f"$$\n{rule(text, letters)}\n$$\n"
        else:
            yield f"{prose(' '.join(text.split()), letters)}\n"


def _legend(cls: type[Algorithm], letters: Notation) -> str:
    """Return a sentence about the options whose symbols are not their names."""
    text = " ".join((inspect.getdoc(cls) or "").split("\n\n")[1:])
    pairs = [
        f"${letters.symbols[name]}$ is the option `{name}`"
        for name in cls.options()
        if name in letters.symbols and letters.symbols[name] != f"\\{name}"
    ]
    return f" {_and(pairs)}." if pairs and text else ""


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _options(cls: type[Algorithm], letters: Notation) -> Iterator[str]:
    yield "## Options\n"
    if not cls.options():
        yield "It has none.\n"
        return
    yield "| option | meaning | value | default |\n|---|---|---|---|"
    for option in cls.options().values():
        meaning = prose(option.doc, letters) + (f" ({option.unit})" if option.unit else "")
        expected, preset = escape_markdown(option.expected), _default(option)
        yield f"| `{option.name}` | {meaning.replace(' | ', ' ')} | {expected} | {preset} |"
    yield ""


def _default(option: Option) -> str:
    if option.advice:
        return f"none; advised is `{option.advice}`"
    return "none" if option.required else f"`{default(option)}`"


def _theory(cls: type[Algorithm], letters: Notation) -> Iterator[str]:
    facts = [text for name, text in FACTS.items() if getattr(cls, name)] + [PROX] * ("prox" in cls.requires)
    sent = " and ".join(f"`{name}`" for name in cls.broadcast)
    facts.append(f"The server sends {sent} to every active client, which counts as {_vectors(len(cls.broadcast))}.")
    yield "## What is known of it\n"
    yield from (f"- {text}" for text in facts)
    bounds = [
        f"Theorem {theorem.short} of its paper ({theorem.name} in the appendix; {prose(theorem.assumptions, letters)})"
        for theorem in FEDAC_THEOREMS.values()
        if ("fedavg" if theorem.averaged else theorem.algorithms[0]) == cls.name  # of FedAvg it is about a mean
    ]
    bounds += [
        f"{bound.title} (bounds {escape_markdown(bound.quantity)})"
        for bound in (FEDRED_BOUNDS | FEDSPS_BOUNDS).values()
        if cls.name in bound.algorithms
    ]
    if bounds:
        yield f"- Bounds that the atlas computes: {'; '.join(dict.fromkeys(bounds))}."
    if words := (cls.rate.__doc__ or "").removeprefix("Return ") if cls.overrides("rate") else None:
        yield "\n**Rate.** With full gradients, a round multiplies the mean squared distance to the optimum by at most"
        yield "this in the long run; a test compares it with runs.\n"
        yield from describe(inspect.cleandoc(words).split("\n\n"), letters)
    yield ""


def _vectors(count: int) -> str:
    return "one vector" if count == 1 else f"{count} vectors"


def _source(cls: type[Algorithm]) -> Iterator[str]:
    yield "## Source\n"
    paper = reference(cls.cite)
    title = f"[{escape_markdown(paper.title)}]({paper.link})" if paper.link else escape_markdown(paper.title)
    authors, venue = escape_markdown(paper.authors), escape_markdown(paper.venue)
    yield f"- {authors}: {title}. {venue}, {paper.year}. `fedatlas cite {cls.name}`"
    yield "  prints the BibTeX entry."
    code = Path(inspect.getfile(cls)).relative_to(ROOT)
    yield f"- The class `{cls.__name__}` is in [{code}]({UP}/{code})."
    function = transcriptions.find(cls.name)
    if not isinstance(function, FunctionType):
        yield ""
        return
    file = Path(function.__code__.co_filename).relative_to(ROOT)
    yield f"- Its transcription, the paper's pseudocode line by line, is in [{file}]({UP}/{file}). A test compares each"
    yield "  round of the class with it:\n"
    yield "```python"
    yield "\n\n".join(inspect.getsource(part).rstrip() for part in (*_helpers(function), function))
    yield "```\n"


def _helpers(function: FunctionType) -> list[FunctionType]:
    """Return the functions of the same file that a function calls, each after those that it calls itself."""
    values = [function.__globals__.get(name) for name in function.__code__.co_names]
    helpers = [value for value in values if isinstance(value, FunctionType) and value.__module__ == function.__module__]
    return list(dict.fromkeys(nested for helper in helpers for nested in (*_helpers(helper), helper)))


def _figures() -> dict[str, list[str]]:
    """Return, by algorithm, the experiments of the gallery that run it, with their figures, as items of a list."""
    items: dict[str, list[str]] = {}
    study = Study.open()
    for size, experiment_name in study.gallery():
        if not (GALLERY / f"{experiment_name}.md").exists():
            continue
        experiment = study.files.load(experiment_name, size)
        title, link = escape_markdown(experiment.title), f"../../gallery/{experiment_name}.md"
        for name in {experiment.algorithm(id) for id in experiment.algorithms}:
            drawn = [figure for figure in experiment.figures if name in _algorithms(experiment, figure)]
            if drawn:
                names = ", ".join(map(escape_markdown, drawn))
                items.setdefault(name, []).append(f"- [{title}]({link}), `{experiment_name}`: {names}")
    return items


def _algorithms(experiment: Experiment, figure: str) -> set[str]:
    """Return the names of the algorithms that a figure draws."""
    ids = experiment.figures.get(figure, {}).get("algorithms")
    return {experiment.algorithm(id) for id in ids or experiment.algorithms}
