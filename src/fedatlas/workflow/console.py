"""Messages of a run of the workflow: its progress, failed jobs with their logs, and a summary at the end.

Snakemake finds the handler through its interface for logger plugins, under the name ``fedatlas``, by the package
``snakemake_logger_plugin_fedatlas`` beside this one. ``--logger fedatlas`` selects it, as `fedatlas run` and
the profiles of studies do. Snakemake's own messages, a paragraph for each job, are in ``.snakemake/log`` then.
``--verbose``, ``--printshellcmds`` and ``--quiet`` leave them on the screen as Snakemake prints them. A dry run shows
its table of jobs, its reasons and the code that has changed, without the paragraphs.
"""

import contextlib
import logging
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from fedatlas.io.machine import format_duration

LOGGER = "snakemake.logging"
LINES = 20  # of the log of a failed job
PAUSE = 30.0  # seconds between two lines about the progress, where there is no terminal
NOTHING = "Nothing to be done"
UP_TO_DATE = "Nothing to do: all results are up to date."
REASONS = "Reasons:"  # of all jobs of a dry run
INTERRUPT = "Terminating processes on user request"
ENDED = re.compile(r"(returned non-zero exit status (?P<status>\d+)|died with <.*>)\.?$")
INTERRUPTED = "fedatlas: interrupted"  # the end of the log of a job that was interrupted
UNFINISHED = "At least one job did not complete successfully"
RESTART = "Trying to restart job"
MISTAKE = re.compile(r"^ *UserError: (?P<sentence>.*)$", re.MULTILINE)  # in an input or a parameter of a rule
CHANGE = re.compile(r"before: (?P<before>.*) now: (?P<now>.*)", re.DOTALL)  # in the reason of a job
MODULE = re.compile(r"(?<!\S)'?(?P<name>[\w.]+) (?P<hash>[0-9a-f]{16})\b")
EXECUTOR = "executor_plugin"  # in the path of the module of a cluster's executor
MISTAKES = ("1", "2", "130")  # exit statuses of jobs that have said why in their logs, or that the user interrupted


class Messages(LogHandlerBase):
    """A handler of Snakemake's records, which prints in place of Snakemake's own.

    Attributes:
        summarize: Returns the summary of a run that has ended well. The workflow sets it on the class: Snakemake makes
            the handler before it reads the workflow.
    """

    summarize: Callable[[], str] = staticmethod(lambda: "")
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
        self.done, self.total, self.failed = 0, 0, dict[str, str]()
        self.up_to_date, self.bar, self.names = False, None, dict[int, str]()
        self.interrupted = False
        self.plan, self.why, self.changed = "", "", Counter[str]()  # of a dry run
        # handlers run in a thread of their own, when the next attempt of a job may have emptied its log
        logging.getLogger(LOGGER).addFilter(keep_logs)

    @property
    def writes_to_stream(self) -> bool:
        """Return whether this handler prints. Where options ask for Snakemake's messages, Snakemake prints them."""
        settings = self.common_settings
        return not (settings.verbose or settings.printshellcmds or settings.debug_dag or settings.quiet)

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record."""
        try:
            if self.writes_to_stream:
                self._show(record)
        except Exception:  # it must not end the thread in which Snakemake calls handlers
            self.handleError(record)

    def _show(self, record: logging.LogRecord) -> None:
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO and self.common_settings.dryrun:
            self.plan = record.getMessage()  # a dry run tells it twice
        elif event == LogEvent.RUN_INFO:
            self._print_plan(record.stats)  # type: ignore[attr-defined]
        elif event == LogEvent.JOB_INFO:
            self._describe(vars(record))
        elif event == LogEvent.PROGRESS:
            self._progress(record.done, record.total)  # type: ignore[attr-defined]
        elif event == LogEvent.JOB_FINISHED:
            self.failed.pop(self.names.get(record.job_id, ""), None)  # type: ignore[attr-defined]
        elif event == LogEvent.JOB_ERROR:
            self._failure(vars(record))
        elif event == LogEvent.GROUP_ERROR:  # the errors of its jobs follow, without the cluster's reason
            logs = {path: _last_lines(path) for path in record.aux_logs}  # type: ignore[attr-defined]
            self._print("\n".join(_log_lines(logs)))
        elif EXECUTOR in record.pathname:
            self._print(record.getMessage())
        elif ended := ENDED.search(record.getMessage()):
            if ended["status"] not in MISTAKES and "SIGINT" not in ended[0]:  # the message repeats the command
                self._print(f"A job's command {ended[0]}")
        elif str(record.msg).startswith(INTERRUPT):  # of Snakemake alone: its jobs go on
            self.interrupted = True
            self._print(record.getMessage())
        elif self.interrupted and UNFINISHED in record.getMessage():
            return
        elif mistake := MISTAKE.search(record.getMessage()):
            self._print(f"fedatlas: {mistake['sentence']}")
        elif record.levelno >= logging.WARNING:
            self._print(self.format(record))
        elif self.common_settings.dryrun and str(record.msg).startswith(REASONS):
            self.why = record.getMessage().partition("\n")[2].partition("\n")[2]  # without a hint at the paragraphs
        elif not event and str(record.msg).startswith(NOTHING):
            self.up_to_date = True
        elif not event and str(record.msg).startswith(RESTART):
            self._print(record.getMessage())

    def _print_plan(self, stats: Mapping[str, int]) -> None:
        self.total = stats.get("total", 0)
        kinds = ", ".join(f"{count} {rule}" for rule, count in stats.items() if rule != "total")
        print(f"{self.total} jobs: {kinds}", file=sys.stderr, flush=True)
        if sys.stderr.isatty():
            from tqdm import tqdm

            self.bar = tqdm(total=self.total, unit="job", leave=False, dynamic_ncols=True)

    def _describe(self, job: Mapping[str, Any]) -> None:
        self.names[job["jobid"]] = _job_name(job)
        if self.common_settings.dryrun:
            self.changed.update(_changed_modules(str(job.get("reason"))))
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
        reason = f": {job['rule_msg']}" if job.get("rule_msg") else "."  # a cluster's
        self._print("\n".join([f"The job {name} failed{reason}", *_log_lines(logs)]))

    def _print(self, text: str) -> None:
        """Print above the bar."""
        with self.bar.external_write_mode(file=sys.stderr) if self.bar is not None else contextlib.nullcontext():
            print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Close the bar, and print the summary."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None
        if self.common_settings.dryrun:
            self._close_dry_run()
            super().close()
            return
        duration = format_duration(time.monotonic() - self.start)
        if self.failed:
            logs = "".join(f"\n  {name}: {log or 'no log'}" for name, log in self.failed.items())
            rest = "What was made stays: once the reason is mended, the same command makes the rest."
            print(f"\n{len(self.failed)} of {self.total} jobs failed after {duration}:{logs}\n{rest}", file=sys.stderr)
        elif self.up_to_date or (self.total and self.done == self.total):
            head = f"{self.total} jobs done in {duration}." if self.total else UP_TO_DATE
            print(f"\n{head}\n{type(self).summarize()}".rstrip(), flush=True)
        elif self.total:
            stopped = f"Stopped after {duration}, with {self.done} of {self.total} jobs done."
            print(f"\n{stopped} What was made stays: the same command goes on from there.", file=sys.stderr)
        self.failed, self.total, self.up_to_date = {}, 0, False  # this may be called again
        super().close()

    def _close_dry_run(self) -> None:
        """Print the jobs that would run, why, and the code that has changed."""
        if self.up_to_date:
            print(UP_TO_DATE, flush=True)
        if self.plan:
            print(self.plan, flush=True)
        if self.why:
            print(f"Why:\n{self.why}", flush=True)
        if self.changed:
            counts = self.changed.most_common()
            modules = [f"{name} ({count} {'job' if count == 1 else 'jobs'})" for name, count in counts]
            print(f"Changed code, with all that it imports: {', '.join(modules)}", flush=True)
        self.plan, self.why, self.up_to_date, self.changed = "", "", False, Counter()


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


def _log_lines(logs: Mapping[str, list[str]]) -> list[str]:
    """Return lines that show the ends of logs, by their paths."""
    lines = []
    for path, end in logs.items():
        lines += [f"  The end of the log {path}:", *(f"    {line}" for line in end)]
    return lines


def _last_lines(path: str) -> list[str]:
    """Return the end of a log, after what SLURM wrote further above where it ended the job itself."""
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        return [f"(it cannot be read: {error.strerror})"]
    ends = [line for line in lines[:-LINES] if line.startswith("slurmstepd")]
    return [*ends, *lines[-LINES:]] or ["(it is empty)"]


def _changed_modules(reason: str) -> set[str]:
    """Return the modules whose fingerprints differ in the reason of a job, of those before and now."""
    change = CHANGE.search(reason)
    if change is None:
        return set()
    before, now = (dict(MODULE.findall(change[key])) for key in ("before", "now"))
    return {name for name in before.keys() & now.keys() if before[name] != now[name]}
