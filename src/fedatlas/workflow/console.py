"""Messages of a run of the workflow: its progress, failed jobs with their logs, and a summary at the end.

Snakemake finds the handler through its interface for logger plugins, under the name ``fedatlas``, by the package
``snakemake_logger_plugin_fedatlas`` beside this one. ``--logger fedatlas`` selects it, as `fedatlas run` and
the profiles of studies do. Snakemake's own messages, a paragraph for each job, are in ``.snakemake/log`` then.
``--verbose``, ``--printshellcmds``, ``--quiet`` and ``--dry-run`` leave them on the screen as Snakemake prints them.
"""

import contextlib
import logging
import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from fedatlas.io.machine import format_duration
from fedatlas.workflow import cluster_messages, reasons

LOGGER = "snakemake.logging"
LINES = 20  # of the log of a failed job
PAUSE = 30.0  # seconds between two lines about the progress, where there is no terminal
COLOURS = {logging.WARNING: 33, logging.ERROR: 31}  # of a terminal: yellow and red, as Snakemake's own
BUILDING, NOTHING = "Building DAG of jobs", "Nothing to be done"
INTERRUPT = "Terminating processes on user request"
ENDED = re.compile(r"returned non-zero exit status (?P<status>\d+)|died with <Signals\.(?P<name>SIG\w+)")
INTERRUPTED = "fedatlas: interrupted"  # the end of the log of a job that was interrupted
UNFINISHED = "At least one job did not complete successfully"
RESTART = "Trying to restart job"
NO_BACKUP = re.compile(r"Cannot restore .*: no backup found")  # of a run file that was not there before its job failed
MISSING = re.compile(r"^No rule to produce (?P<name>\w[\w-]*) \(", re.MULTILINE)  # a name, and no path
MISTAKE = re.compile(r"^ *UserError: (?P<sentence>.*)$", re.MULTILINE)  # in an input or a parameter of a rule
LOCKED = "Directory cannot be locked"
UNLOCK = (
    "fedatlas: this folder is locked: if no other run works in it, the last one was killed; call `snakemake --unlock` "
    "or `fedatlas run NAME -- --unlock`, and then the same command again"
)


class Messages(LogHandlerBase):
    """A handler of Snakemake's records, which prints in place of Snakemake's own.

    Attributes:
        summarize: Returns the summary of a run that has ended well. The workflow sets it on the class: Snakemake makes
            the handler before it reads the workflow.
        explain: Returns a sentence on a target that does not exist; set as well.
    """

    summarize: Callable[[], str] = staticmethod(lambda: "")
    explain: Callable[[str], str] = staticmethod("there is no target {!r}".format)
    active = False  # whether Snakemake has made one
    # The interface: Snakemake formats errors, and leaves it to this handler which records are shown.
    writes_to_file = False
    has_filter = True
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Begin a run."""
        type(self).active, self.start = self.writes_to_stream, time.monotonic()
        self.last_line = self.start
        self.done, self.total, self.failed, self.healed = 0, 0, dict[str, str](), set[str]()
        self.up_to_date, self.bar, self.names = False, None, dict[int, str]()
        self.interrupted, self.reasons, self.changed = False, dict[int, str](), Counter[str]()
        # handlers run in a thread of their own, when the next attempt of a job may have emptied its log
        logging.getLogger(LOGGER).addFilter(keep_logs)

    @property
    def writes_to_stream(self) -> bool:
        """Return whether this handler prints. Where options ask for Snakemake's messages, Snakemake prints them."""
        asked = self.common_settings
        return not (asked.dryrun or asked.verbose or asked.printshellcmds or asked.debug_dag or asked.quiet)

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record."""
        try:
            if self.writes_to_stream:
                self._show(record)
            elif self.common_settings.dryrun and getattr(record, "event", None) == LogEvent.JOB_INFO:
                self.changed.update(reasons.changed_modules(str(vars(record).get("reason"))))
        except Exception:  # it must not end the thread in which Snakemake calls handlers
            self.handleError(record)

    def _show(self, record: logging.LogRecord) -> None:
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self._print_plan(record.stats)  # type: ignore[attr-defined]
        elif event == LogEvent.JOB_INFO:
            self._describe(vars(record))
        elif event == LogEvent.PROGRESS:
            self._progress(record.done, record.total)  # type: ignore[attr-defined]
        elif event == LogEvent.JOB_FINISHED:
            self._finish(record.job_id)  # type: ignore[attr-defined]
        elif event == LogEvent.JOB_ERROR:
            self._failure(vars(record))
        elif event == LogEvent.GROUP_ERROR:  # the errors of its jobs follow
            reason = cluster_messages.reason("", record.aux_logs)  # type: ignore[attr-defined]
            self.reasons |= {job["jobid"]: reason for job in record.job_error_info}  # type: ignore[attr-defined]
        elif NO_BACKUP.match(record.getMessage()):
            return
        elif cluster_messages.EXECUTOR in record.pathname and record.levelno < logging.ERROR:
            if text := cluster_messages.translate(record.getMessage(), self.names):
                self._print(text)
        elif ended := ENDED.search(record.getMessage()):
            self._end(ended["name"] or _signal_name(int(ended["status"])))  # the message repeats the command
        elif str(record.msg).startswith(INTERRUPT):
            self._interrupt()
        elif self.interrupted and UNFINISHED in record.getMessage():
            return
        elif LOCKED in record.getMessage():
            self._print(UNLOCK)
        elif mistake := MISTAKE.search(record.getMessage()):
            self._print(f"fedatlas: {mistake['sentence']}")
        elif missing := MISSING.search(record.getMessage()):
            self._print(f"fedatlas: {type(self).explain(missing['name'])}")
        elif record.levelno >= logging.WARNING:
            self._print(self._colour(self.format(record), record.levelno))
        elif not event and str(record.msg).startswith(BUILDING) and sys.stderr.isatty():
            print("Looking at what is there and what must be made ...", file=sys.stderr, flush=True)
        elif not event and str(record.msg).startswith(NOTHING):
            self.up_to_date = True
        elif not event and str(record.msg).startswith(RESTART):
            self._print("It is tried again.")

    def _colour(self, text: str, level: int) -> str:
        """Return a text in the colour of its level, if standard error shows colours."""
        if self.common_settings.nocolor or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
            return text
        return f"\033[{COLOURS[min(level, logging.ERROR)]}m{text}\033[0m"

    def _print_plan(self, stats: Mapping[str, int]) -> None:
        self.total = stats.get("total", 0)
        kinds = ", ".join(f"{count} {rule}" for rule, count in stats.items() if rule != "total")
        print(f"{self.total} jobs: {kinds}", file=sys.stderr, flush=True)
        if sys.stderr.isatty():
            from tqdm import tqdm

            self.bar = tqdm(total=self.total, unit="job", leave=False, dynamic_ncols=True)

    def _describe(self, job: Mapping[str, Any]) -> None:
        self.names[job["jobid"]] = _job_name(job)
        if self.bar is not None:
            self.bar.set_description_str(_job_name(job)[:40])

    def _progress(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        if self.bar is not None:
            self.bar.total = total
            self.bar.update(done - self.bar.n)
        elif time.monotonic() - self.last_line >= PAUSE and done < total:
            self.last_line = time.monotonic()
            rest = (self.last_line - self.start) * (total - done) / done
            print(f"{done} of {total} jobs done; about {format_duration(rest)} left", file=sys.stderr, flush=True)

    def _finish(self, number: int) -> None:
        """Take the end of a job. One that failed before is healed."""
        name = self.names.get(number, "")
        if self.failed.pop(name, None) is not None:
            self.healed.add(name)

    def _end(self, name: str) -> None:
        """Take the end of a job's command. name: Of the signal that ended it, or empty; `_failure` prints the log."""
        if name == "SIGINT":
            self.interrupted = True
        elif name:
            reason = ", as the system does where memory is missing" if name == "SIGKILL" else ""
            self._print(f"Something ended a job by {name}{reason}.")

    def _interrupt(self) -> None:
        """Say once that the run ends with its jobs: an interrupt of Snakemake alone does not reach them."""
        if not self.interrupted:
            self.interrupted = True
            self._print("Interrupted: the run stops when the jobs that run now have ended.")

    def _failure(self, job: Mapping[str, Any]) -> None:
        """Print the name of a failed job and the end of its log, once; nothing where the user interrupted it."""
        logs = job["logs"]
        if self.interrupted or any(lines[-1] == INTERRUPTED for lines in logs.values()):
            self.interrupted = True
            return
        name = self.names.get(job["jobid"]) or _job_name(job)  # an error does not hold the wildcards
        if name in self.failed:
            return
        self.failed[name] = next(iter(logs), "")
        reason = cluster_messages.reason(job.get("rule_msg")) or self.reasons.pop(job["jobid"], "")
        lines = [f"The job {name} failed{reason}."]
        for path, end in logs.items():
            lines += [f"  The end of its log, {path}:", *(f"    {line}" for line in end)]
        if not logs and job.get("rule_msg"):
            lines.append(f"  {job['rule_msg']}")
        self._print("\n".join(lines))

    def _print(self, text: str) -> None:
        """Print above the bar."""
        with self.bar.external_write_mode(file=sys.stderr) if self.bar is not None else contextlib.nullcontext():
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Close the bar, and print the summary."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None
        if self.changed and not self.common_settings.quiet:
            print(reasons.describe(self.changed), file=sys.stderr)
            self.changed.clear()
        duration = format_duration(time.monotonic() - self.start)
        count = len(self.healed)
        again = f" {count} {'job was' if count == 1 else 'jobs were'} tried again." if count else ""
        if self.failed:
            logs = "".join(f"\n  {name}: {log or 'no log'}" for name, log in self.failed.items())
            rest = f"What was made stays: once the reason is mended, the same command makes the rest.{again}"
            print(f"\n{len(self.failed)} of {self.total} jobs failed after {duration}:{logs}\n{rest}", file=sys.stderr)
        elif self.up_to_date or (self.total and self.done == self.total):
            head = (
                f"{self.total} jobs done in {duration}.{again}"
                if self.total
                else "Nothing to do: all results are up to date."
            )
            print(f"\n{head}\n{type(self).summarize()}".rstrip(), flush=True)
        elif self.total:
            stopped = f"Stopped after {duration}, with {self.done} of {self.total} jobs done."
            print(f"\n{stopped} What was made stays: the same command goes on from there.{again}", file=sys.stderr)
        self.failed, self.healed, self.total, self.up_to_date = {}, set(), 0, False  # this may be called again
        super().close()


def keep_logs(record: logging.LogRecord) -> bool:
    """Add the ends of the logs of a failed job to the record of its failure, by their paths."""
    fields = vars(record)
    if fields.get("event") == LogEvent.JOB_ERROR:
        paths = [path.split(" (")[0] for path in fields.get("log") or ()]
        fields["logs"] = {path: _last_lines(path) for path in paths}
    return True


def _job_name(job: Mapping[str, Any]) -> str:
    """Return a job's name for people: its rule and its wildcards, or its output."""
    words = list((job.get("wildcards") or {}).values()) or list(job.get("output") or ())[:1]
    return " ".join([str(job["rule_name"]), *map(str, words)])


def _signal_name(status: int) -> str:
    """Return the name of the signal that a shell's exit status tells of, or an empty text."""
    try:
        return signal.Signals(status - 128).name
    except ValueError:
        return ""


def _last_lines(path: str) -> list[str]:
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        return [f"(it cannot be read: {error.strerror})"]
    return lines[-LINES:] or ["(it is empty)"]
