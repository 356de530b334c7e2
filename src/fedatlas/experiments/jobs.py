"""The jobs of the workflow: each makes the files of one rule. They run in the project's folder."""

import json
from pathlib import Path

from fedatlas import data, problems
from fedatlas.analysis import labels
from fedatlas.errors import UserError
from fedatlas.experiments import config, expand, files, run, tables
from fedatlas.experiments.atlas import Atlas


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
    from fedatlas.analysis import figures

    directory = Path(atlas.directory(size, name))
    experiment = atlas.experiment(size, name)
    frame, meta = files.read(directory / "table.parquet")
    curves, _ = files.read(directory / "curves.parquet")
    spec = experiment["figures"][key]
    heat = histograms(atlas, size, name, data_directory) if spec["kind"] == "partition" else None
    outputs = [directory / f"figures/{key}.{suffix}" for suffix in ("png", "svg")]
    figures.draw(spec, meta, frame, curves, outputs, partitions=heat)


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


def claims(atlas, size, name):
    """Check the claims of an experiment and write claims.csv."""
    from fedatlas.analysis.claims import check

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

    from fedatlas.analysis.report import report as write

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
    from fedatlas.analysis import instability as theorem

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
