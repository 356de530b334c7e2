"""The jobs of the workflow: each makes the files of one rule. They run in the project's folder."""

import json
from pathlib import Path

from fedatlas import algorithms, data, labels, problems
from fedatlas.errors import UserError
from fedatlas.experiments import config, expand, run, tables
from fedatlas.experiments import result_files as files
from fedatlas.workflow.atlas import Atlas


def partition(origin, out, directory=None):
    """Split the data of ``{"problem", "clients"}`` and save the Partition."""
    problem = origin["problem"]
    labels = data.load(problem["data"], directory).y
    problems.split(problem["partition"], labels, origin["clients"]).save(out)


def optimum(origin, out, directory=None):
    """Solve the problem of ``{"problem", "clients"}`` and save its Optimum."""
    problem = problems.create(origin["problem"], origin["clients"], directory)
    run.save_optimum(problem.solve(), out)


def table(atlas, size, name):
    """Write table.parquet, table.csv and curves.parquet of an experiment."""
    directory = Path(atlas.directory(size, name))
    cells = atlas.cells(size, name).values()
    points = [(c.id, c.point, path) for c, path in zip(cells, atlas.run_files(size, name), strict=True)]
    frame, curves, meta = tables.build(tables.view(atlas.experiment(size, name)), points)
    files.write(directory / "curves.parquet", curves, meta)
    with files.atomic(directory / "table.csv") as temporary:
        frame.to_csv(temporary, index=False)
    files.write(directory / "table.parquet", frame, meta)
    for warning in meta["warnings"]:
        print(f"warning: {warning}")


def figure(atlas, size, name, key, data_directory=None):
    """Draw one figure of an experiment as PNG and SVG."""
    from fedatlas import figures
    from fedatlas.theory import comparison as bounds

    directory = Path(atlas.directory(size, name))
    experiment = atlas.experiment(size, name)
    frame, meta = files.read(directory / "table.parquet")
    curves, _ = files.read(directory / "curves.parquet")
    spec = experiment["figures"][key]
    heat = histograms(atlas, size, name, data_directory) if spec["kind"] == "partition" else None
    who = available(atlas, size, name, spec, data_directory) if spec["kind"] == "availability" else None
    if spec.get("theorems"):
        frame = bounds.promise(meta, spec["theorems"], frame, data_directory)
    if spec.get("memory"):
        entries = {cell.id: cell.spec for cell in atlas.cells(size, name).values()}
        meta["memory"] = {id: algorithms.memory(expand.create(next(expand.runs(s)))[0]) for id, s in entries.items()}
    outputs = [directory / f"figures/{key}.{suffix}" for suffix in ("png", "svg")]
    figures.draw(spec, meta, frame, curves, outputs, partitions=heat, availability=who)


def histograms(atlas, size, name, data_directory=None):
    """(title, (clients, classes) counts) of each partition of an experiment."""
    found = []
    seen = set()
    for cell in atlas.cells(size, name).values():
        problem = cell.spec["problem"]
        if expand.partitioned(problem) and (path := atlas.partition_file(cell.spec)) not in seen:
            seen.add(path)
            loaded = data.load(problem["data"], data_directory)
            counts = data.Partition.load(path).histogram(loaded.y, loaded.classes)
            found.append((labels.text(problem["partition"]), counts))
    return found


def available(atlas, size, name, figure, data_directory=None):
    """(title, probabilities or None, who was there), both (rounds, clients), of each participation that is drawn.

    They are drawn again for the first seed: they depend on the specification alone.
    """
    import numpy as np
    import pandas as pd

    from fedatlas.experiments.selection import matching
    from fedatlas.problems.base import Problem

    points = {}
    for cell in atlas.cells(size, name).values():
        for single in expand.runs(cell.spec):
            axes = {axis: files.plain(value) for axis, value in {**cell.point, **single["within"]}.items()}
            points.setdefault(json.dumps(axes), (axes, cell, single))
    kept = matching(pd.DataFrame([axes for axes, _, _ in points.values()]), figure.get("where")).index
    found = {}
    for _, cell, single in (list(points.values())[place] for place in kept):
        _, setting = expand.create(single)
        problem = Problem()
        if expand.partitioned(single["problem"]):
            problem.partition = data.Partition.load(atlas.partition_file(cell.spec))
        if "data" in single["problem"]:
            problem.labels = data.load(single["problem"]["data"], data_directory).y
        who = setting.participants.bind(problem, setting.clients, single["seed"])
        there = np.zeros((setting.total_rounds, setting.clients), bool)
        for t, row in enumerate(there):
            row[who.active(t)] = True
        chances = [who.probabilities(t) for t in range(len(there))]
        key = json.dumps([setting.participation, single["problem"].get("data"), single["problem"].get("partition")])
        found.setdefault(
            key, (labels.text(setting.participation), None if chances[0] is None else np.array(chances), there)
        )
    return list(found.values())


def claims(atlas, size, name):
    """Check the claims of an experiment and write claims.csv."""
    from fedatlas.checks import check

    directory = Path(atlas.directory(size, name))
    frame, _ = files.read(directory / "table.parquet")
    curves, _ = files.read(directory / "curves.parquet")
    with files.atomic(directory / "claims.csv") as temporary:
        check(atlas.experiment(size, name), frame, curves).to_csv(temporary, index=False)


def track(atlas, size, name, uri):
    """Log an experiment to MLflow and write the receipt mlflow.json."""
    from fedatlas import tracking

    directory = Path(atlas.directory(size, name))
    receipt = tracking.log(atlas.experiment(size, name), directory, uri)
    with files.atomic(directory / "mlflow.json") as temporary:
        temporary.write_text(json.dumps(receipt, indent=1) + "\n")


def track_cell(atlas, size, name, id, key, path, uri):
    """Log a cell to a server as soon as its run file is there. It is no failure if the server is not: track comes."""
    from fedatlas import tracking

    try:
        tracking.live(atlas.experiment(size, name), atlas.cells(size, name)[id, key], path, uri)
    except UserError as error:
        print(f"warning: {error}; these runs will be logged when the experiment is complete")


def report(atlas, size, names, out):
    """Write the report over experiments, and beside it all their claims as claims.csv."""
    import pandas as pd

    from fedatlas.report.page import report as write

    out = Path(out)
    sources = [Path(atlas.directory(size, name)) / "claims.csv" for name in names]
    together = out.with_name("claims.csv")
    if together not in sources:
        with files.atomic(together) as temporary:
            frames = [pd.read_csv(path, dtype=str, keep_default_na=False) for path in sources]
            pd.concat(frames, ignore_index=True).to_csv(temporary, index=False)
    write([atlas.experiment(size, name) for name in names], Path("results"), out)


def instability(paths):
    """Write the study of Theorem 4.2: the distances as CSV, the figure in other formats."""
    from fedatlas.theory import instability as theorem

    frame = theorem.study()
    for path in map(Path, paths):
        if path.suffix == ".csv":
            with files.atomic(path) as temporary:
                frame.to_csv(temporary, index=False)
        else:
            theorem.draw(frame, path)


def here():
    """The Atlas of the project in the working directory."""
    settings = {"tour": [], "experiments": "all", "data": "data", "mlflow_uri": ""}
    settings.update(config.read_yaml("config/config.yaml") or {})
    return Atlas(settings, ".")
