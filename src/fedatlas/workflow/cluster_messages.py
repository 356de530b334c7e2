"""What Snakemake's executor of a cluster says, in words for people: jobs have the names of their results.

What its SLURM plugin tries on the way, such as a guess of the account, is left out; it stays in Snakemake's log.
"""

import contextlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

EXECUTOR = "executor_plugin"  # in the path of the module that logs
SUBMITTED = re.compile(r"Job (?P<job>\S+) has been submitted with SLURM jobid (?P<number>\d+)")
RUN = re.compile(r"SLURM run ID: (?P<name>\S+)")
STATUS = re.compile(r"SLURM status is: '(?P<status>\w+)")
ENDS = {
    "TIMEOUT": re.compile(r"slurmstepd.*DUE TO TIME LIMIT"),
    "OUT_OF_MEMORY": re.compile(r"slurmstepd.*(memory limit|oom.kill)", re.IGNORECASE),
    "NODE_FAIL": re.compile(r"slurmstepd.*DUE TO NODE FAILURE"),
}  # what SLURM writes to the log of a job that it ends
TRIED = (
    "No SLURM account given",
    "No account was given",
    "Guessed SLURM account",
    "Unable to guess SLURM account",
    "MinJobAge",
    "Falling back to 'sacct'",
    "'sacct' unavailable",
    "The 'sacct' command is not available",
    "Cleaning up SLURM log files",
)


def translate(text: str, names: Mapping[int, str]) -> str:
    """Return a message of a cluster's executor for people; nothing for one that needs no reader.

    Args:
        text: The message.
        names: Names of jobs by their numbers in Snakemake, which has none for a group of jobs.
    """
    if text.startswith(TRIED):
        return ""
    if run := RUN.match(text):
        name = run["name"]
        return f"Jobs of this run on SLURM: `squeue --name {name}` lists them, `scancel --name {name}` cancels them."
    if submitted := SUBMITTED.match(text):
        name = names[int(submitted["job"])] if submitted["job"].isdigit() else "a group of small cells"
        return f"Submitted {name} as SLURM job {submitted['number']}."
    return text


def reason(text: str | None, logs: Iterable[str] = ()) -> str:
    """Return why a cluster ended a job as an apposition, ``: SLURM says TIMEOUT``; nothing where it does not say it.

    Args:
        text: The plugin's message, which a group of jobs does not have.
        logs: SLURM's logs of the job.
    """
    if status := STATUS.search(text or ""):
        return f": SLURM says {status['status']}"
    for path in logs:
        with contextlib.suppress(OSError):
            written = Path(path).read_text(encoding="utf-8", errors="replace")
            if found := next((state for state, words in ENDS.items() if words.search(written)), None):
                return f": SLURM says {found}"
    return ""
