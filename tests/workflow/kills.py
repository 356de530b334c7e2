"""Workflows that are killed again and again, and end with the results of one that was left alone.

``python -m tests.workflow.kills --kills 50 [target ...]`` kills the tour, or other targets, in copies of the project.
"""

import argparse
import contextlib
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from fedatlas.experiments import result_files as files
from tests.workflow.project import copied, same_results

# The driver with all its jobs, at once; the driver alone, whose jobs go on; and the two polite ways to stop it.
ENDINGS = {
    "killed": (os.killpg, signal.SIGKILL),
    "orphaned": (os.kill, signal.SIGKILL),
    "terminated": (os.kill, signal.SIGTERM),
    "interrupted": (os.killpg, signal.SIGINT),
}


def whole_time(project, *targets):
    """Make targets without a disturbance; returns the seconds that it took."""
    start = time.monotonic()
    project.snakemake(*targets, timeout=3600)
    return time.monotonic() - start


def kill(project, targets, most, duration, draw):
    """Start the workflow and end it at a random moment, until it ends by itself or was ended ``most`` times.

    duration: seconds that it takes undisturbed. Returns (how, after how many seconds) of each ending. After each, every
    run file is whole or not there.
    """
    done, groups = [], []
    while len(done) < most:
        process = project.start(*targets, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        groups.append(process.pid)
        moment = draw.uniform(0.05, 0.45) * duration
        try:
            process.wait(moment)
            break
        except subprocess.TimeoutExpired:
            how = draw.choice(list(ENDINGS))
            send, number = ENDINGS[how]
            send(process.pid, number)
            _wait(process)
            done.append((how, round(moment, 1)))
        for path in project.run_files().values():
            files.read(path)
        project.snakemake("--unlock")
    _until_gone(groups)
    return done


def _until_gone(groups, seconds=120):
    """Wait for jobs that outlive their driver."""
    end = time.monotonic() + seconds
    for group in groups:
        with contextlib.suppress(ProcessLookupError):
            while time.monotonic() < end:
                os.killpg(group, 0)
                time.sleep(0.1)


def _wait(process):
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def left_over(project):
    """What writers that were killed have left."""
    results = (project.folder / "results").rglob("*")
    return [path for path in results if path.name.startswith(".tmp") or path.suffix in (".part", ".state")]


def main():
    """Kill the targets and compare."""
    parser = argparse.ArgumentParser(prog="python -m tests.workflow.kills", description=__doc__)
    parser.add_argument("targets", nargs="*", help="of snakemake, with its options; default: the tour")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    a, options = parser.parse_known_args()
    targets, draw = [*a.targets, *options], random.Random(a.seed)
    with tempfile.TemporaryDirectory() as folder:
        reference, copy = (copied(Path(folder) / name, complete=True) for name in ("whole", "killed"))
        duration, count, rounds = whole_time(reference, *targets), 0, 0
        print(f"seed {a.seed}; undisturbed: {duration:.0f} s", flush=True)
        while count < a.kills:
            for name in ("results", ".snakemake"):
                shutil.rmtree(copy.folder / name, ignore_errors=True)
            done = kill(copy, targets, a.kills - count, duration, draw)
            copy.snakemake(*targets, timeout=3600)
            same_results(reference, copy)
            again = copy.made_by(*targets)
            assert not again, f"it made {again} once more"
            count, rounds = count + len(done), rounds + 1
            print(f"round {rounds}: {len(done)} endings, equal results; {done}", flush=True)
    print(f"{count} endings in {rounds} rounds, and equal results after each round")


if __name__ == "__main__":
    main()
