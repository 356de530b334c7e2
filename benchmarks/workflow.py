"""What the workflow itself costs: a no-op, plans of many cells and of the atlas, and its share of a FedAc grid.

Usage, in the project's folder:

    python benchmarks/workflow.py [--size smoke] [--cores 2] [--experiment fedac_fig1] [--cells 20000]

Everything runs in a copy of the project in a temporary folder, with data from FEDATLAS_DATA if that is set. The no-op
is in seconds of the wall, the smallest of three. Plans and the share are in processor seconds, which other processes do
not lengthen; the share is all that the command and its jobs used, less what training and evaluation used.
"""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
TIMER = """

_untimed = _run


def _run(*arguments):
    start = time.process_time()
    try:
        return _untimed(*arguments)
    finally:
        print(f"computed for {time.process_time() - start:.4f} s", flush=True)
"""
MOST_NO_OP, MOST_SHARE = 1.5, 0.10
MOST_RATIO, MOST_ATLAS_RATIO = 2.2, 5.0  # of a plan to that of a Snakefile with as many jobs that do nothing
MOST_MB = 500.0
EMPTY = """
rule all:
    input: expand("results/{i}.txt", i=range(CELLS))
rule cell:
    output: "results/{i}.txt"
    params: text=lambda w: w.i
    shell: "touch {output}"
"""
CELLS = {
    "title": "Many cells", "paper": "yuan2020", "source": "Nowhere",
    "problem": {"kind": "quadratic", "dim": 3, "heterogeneity": 1.0},
    "setting": {"clients": 3, "batch": None, "local_steps": 2},
    "select": {"metric": "loss", "statistic": "best", "goal": "min"},
    "algorithms": {"fedavg": {"set": {"lr": 0.01}}, "scaffold": {"set": {"lr": 0.01}}},
    "sizes": {"smoke": {}},
}  # fmt: skip


def snakemake(folder, *arguments):
    """(wall seconds, processor seconds with children) of a command."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    command = [sys.executable, "-m", "snakemake", *arguments]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stderr[-3000:])
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, used


def compute(folder):
    """Processor seconds of all runs, from the logs of their jobs."""
    logs = (folder / "results/logs/train").rglob("*.log")
    return sum(float(s) for log in logs for s in re.findall(r"^computed for (\S+) s", log.read_text(), re.MULTILINE))


def best(folder: Path, *arguments: str) -> tuple[float, float]:
    """The fastest of three: (wall seconds, processor seconds)."""
    return min(snakemake(folder, *arguments) for _ in range(3))


def plan(folder, *arguments):
    """(processor seconds, megabytes, jobs) of a dry run; the fewest seconds of three."""
    command = [sys.executable, "-m", "snakemake", *arguments, "-n", "--quiet", "rules", "--cores", "1"]
    environment, plans = {**os.environ, "PYTHONPATH": str(ROOT / "src")}, []
    for _ in range(3):
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
            _, status, used = os.wait4(process.pid, 0)
            output.seek(0)
            text = output.read()
        if status:
            sys.exit(f"{command} ended with {status}: {text[-3000:]}")
        jobs = int(re.findall(r"^total +(\d+)", text, re.MULTILINE)[0])
        plans.append((used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, jobs))
    return min(plans)


def compare_plans(what, limit, folder, *arguments):
    """Plans of a folder, and of an empty Snakefile with as many jobs."""
    seconds, size, jobs = plan(folder, *arguments)
    with tempfile.TemporaryDirectory() as empty:
        (Path(empty) / "Snakefile").write_text(EMPTY.replace("CELLS", str(jobs)))
        least, least_size, _ = plan(empty)
    ratio = seconds / least
    print(f"plan of {what}: {seconds:.1f} s of a processor, {size:.0f} MB")
    print(f"  {jobs} empty jobs: {least:.1f} s, {least_size:.0f} MB; ratio {ratio:.2f}  [{verdict(ratio, limit)}]")
    return size


def many_cells(place, cells):
    """Plans of an experiment with so many cells."""
    study = Path(place)
    (study / "config/experiments").mkdir(parents=True)
    shutil.copytree(ROOT / "workflow", study / "workflow")
    grid = {"rounds": list(range(5, 5 + cells // 20)), "problem.L": [float(10 + i) for i in range(10)]}
    (study / "config/experiments/many.yaml").write_text(yaml.safe_dump({**CELLS, "grid": grid}, sort_keys=False))
    size = compare_plans(f"{cells} cells", MOST_RATIO, study, "many", "--config", "size=smoke")
    print(f"  its memory  [{verdict(size, MOST_MB)}]")


def verdict(value, limit):
    return f"{'ok' if value <= limit else 'TOO MUCH'}, at most {limit:g}"


def report(what, wall, used, limit):
    print(f"{what}: {wall:.1f} s, {used:.1f} s of a processor  [{verdict(wall, limit)}]")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", default="smoke")
    parser.add_argument("--cores", default="2")
    parser.add_argument("--experiment", default="fedac_fig1")
    parser.add_argument("--cells", type=int, default=20_000)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        many_cells(place, a.cells)
    with tempfile.TemporaryDirectory() as place:
        folder, empty = Path(place) / "project", Path(place) / "empty"
        for name in ("src", "workflow", "config"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        (empty / "workflow").mkdir(parents=True)
        (empty / "workflow/Snakefile").write_text("rule nothing:\n    input: []\n")
        data = ["--config", f"size={a.size}"]
        if "FEDATLAS_DATA" in os.environ:
            data.append(f"data={Path(os.environ['FEDATLAS_DATA']).resolve()}")

        with open(folder / "src/fedatlas/experiments/run.py", "a") as module:
            module.write(TIMER)

        own, own_used = best(empty, "--cores", "1")
        snakemake(folder, "--cores", a.cores, *data)  # the tour, which also leaves compiled kernels
        wall, used = best(folder, "--cores", "1", *data)
        report("no-op on the tour, beyond Snakemake's own start", wall - own, used - own_used, MOST_NO_OP)
        paper = ["--config", "size=paper", *data[2:]]
        compare_plans("the atlas in paper size", MOST_ATLAS_RATIO, folder, "all", *paper)

        shutil.rmtree(folder / "results")
        wall, used = snakemake(folder, "--cores", a.cores, a.experiment, *data)
        needed = compute(folder)
        share = (used - needed) / used
        rest = used - needed
        print(
            f"{a.experiment} in size {a.size}: {wall:.0f} s on {a.cores} cores, {needed:.0f} s of processors for runs,"
        )
        print(f"  {rest:.0f} s for all else: the workflow's own share is {share:.1%}  [{verdict(share, MOST_SHARE)}]")


if __name__ == "__main__":
    main()
