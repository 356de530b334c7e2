"""An experiment's results in few lines: best values, warnings, hyper-parameters, data."""

import math

from fedatlas import algorithms, labels
from fedatlas.figures import style

COSTS = ("rounds", "vectors_up", "vectors_down", "gradients", "seconds")
SETTINGS_NAMED = 4  # of a warning; more are counted


def names(about):
    """Names of an experiment's algorithms for people: {id: name}."""
    return {id: style.name_of(id, entry) for id, entry in about["algorithms"].items()}


def best_values(about, table):
    """Scores by setting and algorithm.

    {"head": axes, "columns": algorithms, "rows": [{"setting", "cells", "first"}]}; a cell is None or {"text", "best",
    "edge"}, first says whether a row is the first with its value of the first axis.
    """
    chosen = table[table["chosen"]]
    axes, smallest = about["axes"], about["select"]["goal"] == "min"
    rows = []
    for point, part in _groups(chosen, axes):
        scores = dict(zip(part["algorithm"], part["score"], strict=True))
        edges = dict(zip(part["algorithm"], part["edge"], strict=True))
        finite = [score for score in scores.values() if math.isfinite(score)]
        best = labels.number(min(finite) if smallest else max(finite)) if finite else None
        cells = []
        for id in about["algorithms"]:
            text = labels.number(scores[id]) if id in scores else None
            cells.append(text and {"text": text, "best": text == best and len(scores) > 1, "edge": bool(edges[id])})
        setting = [labels.text(value) for value in point]
        rows.append({"setting": setting, "cells": cells, "first": not rows or setting[:1] != rows[-1]["setting"][:1]})
    return {"head": list(map(labels.short, axes)), "columns": list(names(about).values()), "rows": rows}


def choices(about, table):
    """What was chosen and what it cost: {"head", "rows"} of text, a row for each setting and algorithm."""
    chosen = table[table["chosen"]]
    tuned = [name for name in about["tune"] if name in chosen]
    several = len(about["seeds"]) > 1
    head = [*map(labels.short, about["axes"]), "algorithm", score_name(about), *(["sd"] if several else []), *tuned]
    head += [*(name.replace("_", " ") for name in COSTS), "diverged"]
    called, rows = names(about), []
    for _, part in _groups(chosen, about["axes"]):
        for _, row in part.iterrows():
            cells = [labels.text(row[axis]) for axis in about["axes"]] + [
                called[row["algorithm"]],
                labels.number(row["score"]),
            ]
            cells += [labels.number(row["score_sd"], 2) if math.isfinite(row["score_sd"]) else ""] if several else []
            cells += ["" if row[name] != row[name] else labels.text(row[name]) for name in tuned]
            cells += [labels.number(row[name]) for name in COSTS] + [str(int(row["diverged"]))]
            rows.append(cells)
    return {"head": head, "rows": rows, "words": len(about["axes"]) + 1}


def setup(experiment):
    """How an experiment was run at its size: [(what, text)]."""
    problem = {key: value for key, value in experiment["problem"].items() if not _varies(experiment, f"problem.{key}")}
    setting = {key: value for key, value in experiment["setting"].items() if not _varies(experiment, key)}
    found = [("Problem", _list(problem)), ("Setting", _list(setting))]
    axes = {**experiment["grid"], **experiment["within"]}
    found += [("Varied", "; ".join(f"{_name(axis)} in {_values(values)}" for axis, values in axes.items()))]
    found += [("Tuned", "; ".join(f"{name} in {_values(values)}" for name, values in experiment["tune"].items()))]
    found += [("Seeds", _values(experiment["seeds"]))]
    return [(what, text) for what, text in found if text]


def _varies(experiment, key):
    return key in experiment["grid"] or key in experiment["within"]


def _list(options):
    kind = [labels.text(options["kind"])] if "kind" in options else []
    return "; ".join(
        [*kind, *(f"{_name(key)}: {labels.text(value)}" for key, value in options.items() if key != "kind")]
    )


def _name(key):
    words = key.split(".")[-1].replace("_", " ")
    return f"{words} {labels.SYMBOLS[key]}" if key in labels.SYMBOLS else words


def _values(values):
    separator = "; " if any(isinstance(value, (dict, list)) for value in values) else ", "
    return separator.join(map(labels.text, values))


def score_name(about):
    """The score in words: ``best suboptimality``."""
    return f"{about['select']['statistic']} {labels.words(about['select']['metric'])}"


def warnings(about, table):
    """What a reader must know of the numbers, one line for each kind and algorithm."""
    chosen = table[table["chosen"]]
    called, found = names(about), []
    for id in about["algorithms"]:
        rows = chosen[chosen["algorithm"] == id]
        for edge, part in rows[rows["edge"] != ""].groupby("edge", sort=False):
            found.append(f"{called[id]}: the best {_code(edge)} of the grid{_where(about, part, len(rows))}.")
        lost = rows[~rows["score"].map(math.isfinite)]
        if len(lost):
            found.append(f"{called[id]} diverged for every tuned value{_where(about, lost, len(rows))}.")
    for name, entry in about["data"].items():
        if entry.get("lossy"):
            reason = entry["lossy"] if isinstance(entry["lossy"], str) else entry.get("note", "see its provenance")
            found.append(f"The data set {name} is a lossy copy: {reason}.")
    return found


def _code(edge):
    """``lr at its highest value; ...`` with the names as code."""
    return " and the best ".join(f"`{part.split(' ')[0]}` {part.partition(' ')[2]}" for part in edge.split("; "))


def _where(about, rows, total):
    if not about["axes"]:
        return ""
    if len(rows) == total:
        return f" in all {total} settings" if total > 1 else ""
    settings = [labels.setting(row, about["axes"]) for _, row in rows.iterrows()]
    more = len(settings) - SETTINGS_NAMED
    listed = "; ".join(settings[:SETTINGS_NAMED]) + (f"; and {more} more" if more > 0 else "")
    return f" in {len(settings)} of {total} settings ({listed})"


def parameters(experiment):
    """Hyper-parameters: [(algorithm's name, [(parameter, meaning, value)])]."""
    found = []
    for id, entry in experiment["algorithms"].items():
        name = entry.get("algorithm", id)
        tuned = {**experiment["tune"], **entry.get("tune", {})}
        rows = []
        for parameter, field in algorithms.get(name).options().items():
            if tuned.get(parameter) is not None:
                value = "tuned: " + ", ".join(labels.text(v) for v in tuned[parameter])
            elif parameter in entry.get("set", {}):
                value = labels.text(entry["set"][parameter])
            else:
                value = "the problem's" if field.constant else labels.text(field.default)
            rows.append((parameter, field.doc, value))
        found.append((style.name_of(id, {"algorithm": name, **entry}), rows))
    return found


def provenance(abouts):
    """Data sets of several experiments: rows for a table, each data set once."""
    entries = {name: entry for about in abouts for name, entry in about["data"].items()}
    return [
        {
            "name": name,
            "title": entry.get("title", ""),
            "page": entry.get("page", ""),
            "rows": " + ".join(f"{entry[key]:,}" for key in ("rows", "test_rows") if entry.get(key)),
            "shape": " × ".join(map(str, entry.get("shape") or [entry.get("features", "")])),
            "classes": entry.get("classes", ""),
            "licence": entry.get("licence", ""),
            "note": " ".join(filter(None, [entry.get("note", ""), _lossy(entry)])),
            "files": entry.get("files", []),
        }
        for name, entry in sorted(entries.items())
    ]


def _lossy(entry):
    return f"Lossy: {entry['lossy']}." if isinstance(entry.get("lossy"), str) and entry["lossy"] else ""


def _groups(frame, axes):
    return frame.groupby(axes, sort=False) if axes else [((), frame)]
