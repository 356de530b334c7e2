"""``python -m tests.fuzz``: hostile inputs for every target, or for those named.

With ``--seconds`` they are new until the time is over. With ``--inputs`` they are so many of each target, however long
that takes; then seed and code alone say which.

Each target runs in a process of its own, with a limit on its memory, as many at once as there are cores.
"""

import argparse
import itertools
import math
import os
import random
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tests.fuzz import TARGETS
from tests.fuzz.targets import SLACK, Target

GIB = 2**30
BATCH = 100  # inputs that are drawn from one seed
FAST = 10  # seconds that an input of a target may take of which --inputs gives the number


def main() -> int:
    """Fuzz; returns the exit status, 1 if an input raised what it must not raise."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="target", help=f"of {', '.join(TARGETS)}; default: all")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--seconds", type=float, default=60, help="of all targets together")
    length.add_argument(
        "--inputs", type=int, help=f"of each target; fewer where they are slow; each may take {SLACK} times as long"
    )
    parser.add_argument("--memory", type=float, default=4, help="GiB that inputs of a target may take")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), help="of the inputs")
    parser.add_argument("--alone", action="store_true", help="run the one target in this process")
    a = parser.parse_args()
    if unknown := set(a.names) - set(TARGETS):
        parser.error(f"there is no target {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    if a.alone:
        return alone(TARGETS[a.names[0]], None if a.inputs else a.seconds, a.inputs, a.memory, a.seed)
    names, workers = a.names or list(TARGETS), os.cpu_count() or 1
    share = a.seconds * min(workers, len(names)) / len(names)

    def start(name: str) -> int:
        command = [sys.executable, "-m", "tests.fuzz", "--alone", name]
        command += ["--inputs", str(a.inputs)] if a.inputs else ["--seconds", str(share)]
        command += ["--memory", str(a.memory), "--seed", str(a.seed)]
        return subprocess.run(command, env=os.environ | {"PYTHONHASHSEED": "0"}).returncode

    with ThreadPoolExecutor(workers) as pool:
        statuses = dict(zip(names, pool.map(start, names), strict=True))
    failed = [name for name, status in statuses.items() if status]
    print(f"fuzzing with seed {a.seed}: " + (f"failed for {', '.join(failed)}" if failed else "nothing found"))
    return 1 if failed else 0


def alone(target: Target, seconds: float | None, inputs: int | None, memory: float, number: int) -> int:
    """Fuzz one target in this process, for some seconds or with some inputs."""
    start, slack = time.monotonic(), SLACK if seconds is None else 1
    until = math.inf if seconds is None else start + seconds
    for path in target.corpus():
        target.feed(path.read_bytes())
    used = int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmSize"))) * 1024
    limit = int(used + memory * GIB)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    count = len(target.corpus())
    remaining = math.inf if inputs is None else max(1, round(inputs * FAST / target.seconds))
    for batch in itertools.count():
        if time.monotonic() >= until or remaining <= 0:
            break
        count += target.search(number + batch, int(min(BATCH, remaining)), until, slack)
        remaining -= BATCH
    print(f"{target.name:<20} {count:>7} inputs in {time.monotonic() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
