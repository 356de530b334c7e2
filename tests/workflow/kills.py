"""Workflows that are killed again and again, and end with the results of one that was left alone."""

import contextlib
import os
import signal
import subprocess
import time

from fedatlas.experiments import result_files as files

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
