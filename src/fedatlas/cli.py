"""The ``fedatlas`` command: what a person calls, and under ``job`` what the workflow's rules call."""

import argparse
import json
import os
import sys

from fedatlas.errors import UserError


def main(argv=None):
    """Run a command; returns the exit status: 0, or 2 after a user's mistake."""
    arguments = parser().parse_args(argv)
    # Parallelism is over jobs and clients: one numerical thread each, set before NumPy is loaded.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    try:
        arguments.run(arguments)
    except UserError as error:
        print(f"fedatlas: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("fedatlas: interrupted", file=sys.stderr)
        return 130
    return 0


def parser():
    """The argument parser."""
    top = argparse.ArgumentParser(prog="fedatlas", description="An executable atlas of federated optimisation.")
    commands = top.add_subparsers(required=True, metavar="command")

    one = commands.add_parser("list", help="algorithms, problems, data sets and experiments")
    one.add_argument("what", nargs="?", choices=("algorithms", "problems", "data", "experiments"))
    one.set_defaults(run=list_everything)

    one = commands.add_parser("train", help="one run from the shell")
    one.add_argument("--algorithm", required=True, help="a name that `fedatlas list algorithms` shows")
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a hyper-parameter; repeatable")
    one.add_argument("--problem", default="logistic", help="logistic, softmax, quadratic or network")
    one.add_argument("--data", help="a data set that `fedatlas data status` shows")
    one.add_argument("--l2", type=float, help="weight of |x|^2 / 2")
    one.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="another problem option")
    one.add_argument("--partition", metavar="KIND[,NAME=VALUE...]", help="how data are split, e.g. dirichlet,alpha=0.3")
    one.add_argument("--clients", type=int, default=10)
    one.add_argument("--active", type=int, help="clients drawn uniformly each round; default all")
    one.add_argument("--local-steps", type=int, default=1, help="K")
    one.add_argument("--rounds", type=int, default=100)
    one.add_argument("--batch", type=int, default=1, help="samples a step; 0 for full local gradients")
    one.add_argument("--eval-rounds", type=int, help="rounds between evaluations")
    one.add_argument("--seed", type=int, default=0)
    one.add_argument("--threads", type=int, default=1, help="client blocks computed at once")
    one.add_argument("--no-optimum", action="store_true", help="do not solve for F* first")
    one.add_argument("--out", metavar="FILE.parquet", help="write the rows there")
    one.add_argument("--json", action="store_true", help="print one JSON object: final, best, costs, status")
    _directory(one)
    one.set_defaults(run=train)

    data = commands.add_parser("data", help="data sets: fetch, status, verify").add_subparsers(required=True)
    one = data.add_parser("fetch", help="download or copy from a mirror, verify and prepare")
    one.add_argument("names", nargs="+", metavar="name")
    one.add_argument("--mirror", action="append", default=[], help="folder or URL asked first; repeatable")
    _directory(one)
    one.set_defaults(run=data_fetch)
    one = data.add_parser("status", help="what is there")
    one.add_argument("--mirror", action="append", default=[])
    one.add_argument("--json", action="store_true")
    _directory(one)
    one.set_defaults(run=data_status)
    one = data.add_parser("verify", help="check files against sizes, checksums, rows and classes")
    one.add_argument("names", nargs="*", metavar="name", help="default: all that are prepared")
    _directory(one)
    one.set_defaults(run=data_verify)

    one = commands.add_parser("claims", help="the papers' claims and whether they held")
    one.add_argument("--results", default="results")
    one.add_argument("--json", action="store_true")
    one.set_defaults(run=claims)

    one = commands.add_parser("cite", help="BibTeX of algorithms, experiments or data sets")
    one.add_argument("names", nargs="*", metavar="name", help="default: the five papers")
    one.set_defaults(run=cite)

    one = commands.add_parser("ui", help="open the MLflow user interface")
    one.add_argument("--uri", default="sqlite:///results/mlflow.db")
    one.add_argument("--port", type=int, default=5000)
    one.set_defaults(run=ui)

    _jobs(commands.add_parser("job", help="a step of the workflow, as its rules call it"))
    return top


def _directory(command):
    command.add_argument("--directory", help="data directory; default $FEDATLAS_DATA or ./data")


def _jobs(job):
    steps = job.add_subparsers(required=True)
    for name in ("run", "partition", "optimum"):
        one = steps.add_parser(name)
        one.add_argument("spec", type=json.loads)
        one.add_argument("out")
        _directory(one)
        one.set_defaults(run=job_spec, step=name)
        if name == "run":
            one.add_argument("--partition")
            one.add_argument("--optimum")
            one.add_argument("--threads", type=int, default=1)
    for name in ("table", "figure", "claims", "track", "report"):
        one = steps.add_parser(name)
        one.add_argument("experiment", nargs="+" if name == "report" else None)
        if name == "figure":
            one.add_argument("figure")
            _directory(one)
        if name == "track":
            one.add_argument("--uri", required=True)
        if name == "report":
            one.add_argument("--out", required=True)
        one.add_argument("--size", required=True)
        one.set_defaults(run=job_experiment, step=name)


def list_everything(a):
    """Print what there is."""
    from fedatlas.overview import overview

    for section, lines in overview(a.what).items():
        print(f"{section}:")
        for name, text in lines:
            print(f"  {name:<18} {text}")
        print()


def train(a):
    """One run."""
    from fedatlas.experiments import files
    from fedatlas.experiments.train import summary, train

    problem = {"kind": a.problem, **_pairs(a.option)}
    problem |= {k: v for k, v in (("data", a.data), ("l2", a.l2)) if v is not None}
    if a.partition:
        kind, *options = a.partition.split(",")
        problem["partition"] = {"kind": kind, **_pairs(options)}
    options = {"clients": a.clients, "local_steps": a.local_steps, "rounds": a.rounds, "batch": a.batch or None}
    if a.active:
        options["participation"] = {"kind": "uniform", "count": a.active}
    if a.eval_rounds:
        options["eval_rounds"] = a.eval_rounds
    options |= _pairs(a.set)
    progress = _Progress(a.rounds) if sys.stderr.isatty() else None
    frame = train(
        a.algorithm,
        problem,
        seed=a.seed,
        directory=a.directory,
        optimum=not a.no_optimum,
        threads=a.threads,
        progress=progress,
        **options,
    )
    if progress:
        progress.close()
    if a.out:
        files.write(a.out, frame, {k: v for k, v in frame.attrs.items() if k != "x"})
    result = summary(frame)
    if a.json:
        print(json.dumps(result))
        return
    print(f"{a.algorithm}: {result['status']} after {result['costs']['rounds']} rounds")
    for name, value in result["final"].items():
        best = result["best"].get(name)
        print(f"  {name:<15} {value:<12.6g}" + (f" best {best['value']:.6g} at round {best['round']}" if best else ""))


def data_fetch(a):
    """Fetch and prepare data sets."""
    from fedatlas import data

    for name in a.names:
        data.info(name)
    for name in a.names:
        print(f"{name}: {data.prepare(name, a.directory, a.mirror)}")


def data_status(a):
    """What is there of each data set."""
    from fedatlas import data

    rows = data.status(a.directory, a.mirror)
    if a.json:
        print(json.dumps(rows))
        return
    for row in rows:
        size = f"{row['bytes'] / 1e6:,.1f} MB" if row.get("bytes") else ""
        print(f"{row['name']:<16} {row['state']:<10} {size:>12}  {'lossy' if row.get('lossy') else ''}")


def data_verify(a):
    """Check data sets."""
    from fedatlas import data

    names = a.names or [row["name"] for row in data.status(a.directory) if row["state"] == "prepared"]
    for name in names:
        data.verify(name, a.directory)
        print(f"{name}: verified")


def claims(a):
    """Print the claims that results hold verdicts on."""
    from fedatlas.overview import verdicts

    rows = verdicts(a.results)
    if a.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(f"{row['verdict']:<28} {row['experiment']} ({row['size']}): {row['text']} [{row['source']}]")
        print(f"{'':<28} paper: {row['paper']}; here: {row['ours']}")


def cite(a):
    """Print BibTeX."""
    from fedatlas.analysis.citations import cite
    from fedatlas.experiments import jobs

    atlas = jobs.here() if os.path.exists("config/experiments") else None
    loaded = [atlas.experiment("paper", name) for name in a.names if atlas and name in atlas.paths]
    print(cite(a.names, loaded))


def ui(a):
    """Run MLflow's user interface."""
    from fedatlas import tracking

    tracking.ui(a.uri, a.port)


def job_spec(a):
    """Jobs that are given all they need."""
    from fedatlas.experiments import jobs, run

    if a.step == "run":
        run.run_cell(a.spec, a.out, a.directory, a.partition, a.optimum, a.threads, _print_progress)
    else:
        getattr(jobs, a.step)(a.spec, a.out, a.directory)


def job_experiment(a):
    """Jobs over an experiment's results."""
    from fedatlas.experiments import jobs

    extra = {
        "figure": lambda: (a.figure, a.directory),
        "track": lambda: (a.uri,),
        "report": lambda: (a.out,),
    }.get(a.step, tuple)
    getattr(jobs, a.step)(jobs.here(), a.size, a.experiment, *extra())


def _pairs(items):
    """NAME=VALUE items as a dict, values read as YAML."""
    import yaml

    found = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals:
            raise UserError(f"{item!r} is not of the form NAME=VALUE")
        number = _number(value)
        found[name] = yaml.safe_load(value) if number is None else number
    return found


def _number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None


def _print_progress(done, total):
    print(f"{done}/{total} runs", flush=True)


class _Progress:
    """A progress bar over rounds with the latest metrics."""

    def __init__(self, rounds):
        from tqdm import tqdm

        self.bar = tqdm(total=rounds, unit="round")

    def __call__(self, row):
        self.bar.update(row["round"] - self.bar.n)
        shown = {name: f"{row[name]:.4g}" for name in ("loss", "suboptimality", "test_accuracy") if name in row}
        self.bar.set_postfix(shown)

    def close(self):
        self.bar.close()


if __name__ == "__main__":
    sys.exit(main())
