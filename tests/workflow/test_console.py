"""A run of the workflow says little: how many jobs there are, what failed and where its log is, and what was made."""

import logging
import logging.handlers
import re
from types import SimpleNamespace

import pandas as pd
import pytest
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry
from snakemake_interface_logger_plugins.tests import TestLogHandlerBase

from fedatlas.io.formats import write_csv
from fedatlas.results.claims.verdicts import COLUMNS, NOT_TESTED
from fedatlas.workflow import console, summary
from fedatlas.workflow.study import Study

LOGGER = ("--logger", "fedatlas", "--cores", "2")
SETTINGS = {
    "dryrun": False, "verbose": False, "printshellcmds": False, "debug_dag": False, "quiet": None, "nocolor": False
}  # fmt: skip


def test_a_failed_job_is_told_with_its_log(project):
    failing = "def run_cell(*_, **__):\n    raise OSError(28, 'No space left')\n\n\ndef _run_cell("
    project.edit("src/fedatlas/experiments/run.py", "def run_cell(", failing)
    done = project.snakemake(*LOGGER, "results/smoke/tiny/runs/fedavg/all.parquet", check=False)
    assert done.returncode == 1 and len(done.stderr.splitlines()) < 15
    assert "The job train smoke tiny fedavg all failed." in done.stderr
    assert "The end of the log results/logs/train/smoke/tiny/fedavg/all.log:" in done.stderr
    assert "    fedatlas: No space left" in done.stderr
    assert "jobs done" not in done.stdout and "Made" not in done.stdout
    (log,) = (project.folder / ".snakemake/log").glob("*.log")
    assert "rule train:" in log.read_text() and "Error in rule train" in log.read_text()


def record(event=None, message="", level=logging.INFO, path="snakemake/workflow.py", **fields):
    result = logging.LogRecord("snakemake.logging", level, path, 1, message, None, None)
    vars(result).update({"event": event, **fields})
    console.keep_logs(result)  # as the logger does
    return result


class TestPlugin(TestLogHandlerBase):
    """The tests that the interface has for its plugins."""

    __test__ = True

    def get_log_handler_cls(self):
        return LoggerPluginRegistry().get_plugin("fedatlas").log_handler

    def get_log_handler_settings(self):
        return None


@pytest.fixture
def handler(monkeypatch):
    monkeypatch.setattr(console.Messages, "summarize", staticmethod(lambda: "Made      it"))
    return console.Messages(SimpleNamespace(**SETTINGS), None)


def test_what_is_shown_of_records(handler, capsys):
    handler.handle(record("run_info", stats={"train": 3, "table": 1, "total": 4}))
    for item in (
        record("job_info", jobid=1, rule_name="train", wildcards={"size": "smoke"}, output=["a"]),
        record("job_finished", "Finished job", job_id=1),
        record("progress", done=1, total=4),
    ):
        handler.handle(item)
    assert capsys.readouterr().err == "4 jobs: 3 train, 1 table\n"
    handler.handle(record(None, "the disk is slow", logging.WARNING))
    handler.handle(record("error", "there is no such rule", logging.ERROR))
    assert capsys.readouterr().err == "the disk is slow\nthere is no such rule\n"
    handler.handle(record("progress", done=4, total=4))
    handler.close()
    out, error = capsys.readouterr()
    assert error == "" and "4 jobs done in under 1 s.\nMade      it\n" in out
    handler.close()
    assert capsys.readouterr() == ("", "")


def test_a_cluster_says_which_job_is_whose_and_why_one_ended(handler, capsys, tmp_path):
    path = "snakemake_executor_plugin_slurm/__init__.py"
    handler.handle(record(None, "Job 1 has been submitted with SLURM jobid 12", path=path))
    handler.handle(record(None, "sbatch failed", logging.ERROR, path=path))
    assert capsys.readouterr().err == "Job 1 has been submitted with SLURM jobid 12\nsbatch failed\n"
    (tmp_path / "3.log").write_text("DAG\nslurmstepd: *** JOB 3 CANCELLED DUE TO TIME LIMIT ***\n" + "the end\n" * 99)
    group = {"aux_logs": [str(tmp_path / "3.log")], "job_error_info": [{"jobid": 1}]}
    handler.handle(record("group_error", "Error in group", logging.ERROR, **group))
    handler.handle(record("job_error", level=logging.ERROR, jobid=1, rule_name="train", wildcards={"key": "a"}, log=[]))
    _, reason, *_, last, failed = capsys.readouterr().err.splitlines()
    assert (
        reason.endswith("DUE TO TIME LIMIT ***") and last.strip() == "the end" and failed == "The job train a failed."
    )


def test_a_failure_that_a_later_attempt_heals_is_one_line(handler, capsys):
    handler.handle(record("run_info", stats={"train": 3, "total": 3}))
    for job in (1, 2):
        handler.handle(record("job_info", jobid=job, rule_name="train", wildcards={"key": f"K={job}"}))
        reason = "SLURM-job '7' failed, SLURM status is: 'TIMEOUT'."
        handler.handle(record("job_error", level=logging.ERROR, jobid=job, rule_name="train", log=[], rule_msg=reason))
        handler.handle(record(None, f"Trying to restart job {job}."))
    error = capsys.readouterr().err
    assert f"The job train K=2 failed: {reason}\n" in error and error.count("Trying to restart") == 2
    for done in (1, 2, 3):
        handler.handle(record("job_finished", job_id=done))
        handler.handle(record("progress", done=done, total=3))
    handler.close()
    out, error = capsys.readouterr()
    assert out == "\n3 jobs done in under 1 s.\nMade      it\n" and "failed" not in error


def test_a_line_now_and_then_without_a_terminal(handler, capsys, monkeypatch):
    handler.handle(record("run_info", stats={"train": 8, "total": 8}))
    handler.handle(record("progress", done=1, total=8))
    monkeypatch.setattr(console, "PAUSE", 0.0)
    handler.start -= 60
    handler.handle(record("progress", done=2, total=8))
    assert capsys.readouterr().err.splitlines()[1:] == ["2 of 8 jobs done; about 3 min left"]


def test_an_interrupted_run_has_no_summary(handler, capsys):
    handler.handle(record("run_info", stats={"train": 8, "total": 8}))
    handler.handle(record("progress", done=2, total=8))
    handler.close()
    out, error = capsys.readouterr()
    assert out == "" and "with 2 of 8 jobs done. What was made stays: the same command goes on from there." in error


def test_jobs_that_the_user_interrupted_have_not_failed(handler, capsys, tmp_path):
    (tmp_path / "log").write_text("11/12 runs\nfedatlas: interrupted\n")
    handler.handle(record("run_info", stats={"train": 8, "total": 8}))
    handler.handle(record("job_error", jobid=1, rule_name="train", wildcards={}, log=[str(tmp_path / "log")]))
    handler.handle(record("error", "At least one job did not complete successfully.", logging.ERROR))
    handler.close()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and lines[2].startswith(
        "Stopped after under 1 s, with 0 of 8 jobs done. What was made stays"
    )


def test_an_interrupt_of_snakemake_alone_waits_for_jobs(handler, capsys):
    message = "Terminating processes on user request, this might take some time."
    handler.handle(record(None, message))
    handler.handle(record("error", "Command 'a' returned non-zero exit status 130.", logging.ERROR))
    handler.handle(record("error", "At least one job did not complete successfully.", logging.ERROR))
    assert capsys.readouterr().err == f"{message}\n"


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("returned non-zero exit status 137.", "returned non-zero exit status 137."),
        ("died with <Signals.SIGTERM: 15>.", "died with <Signals.SIGTERM: 15>."),
        ("returned non-zero exit status 2.", ""),
    ],
)
def test_a_job_that_a_signal_ended(handler, capsys, end, words):
    handler.handle(record("error", f"Command 'fedatlas job run' {end}", logging.ERROR))
    assert capsys.readouterr().err == (f"A job's command {words}\n" if words else "")


def test_the_summary_tells_claims_and_what_was_made(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    folder = project.folder / "results/smoke/tiny"
    folder.mkdir(parents=True)
    rows = [
        dict.fromkeys(COLUMNS, "x") | {"size": "smoke", "verdict": verdict}
        for verdict in (NOT_TESTED, "held", NOT_TESTED)
    ]
    write_csv(folder / "claims.csv", pd.DataFrame(rows))
    (folder / "report.html").touch()
    (folder / "mlflow.json").write_text('{"results/smoke/tiny": {"logged": 3}}')
    report = "results/smoke/tiny/report.html"
    asked = [f"results/smoke/tiny/{name}" for name in ("claims.csv", "mlflow.json", "report.html")]
    text = summary.summary(Study.open(), [*asked, "results/none.html", "results/laptop/tiny/table.csv"])
    assert "tiny (smoke)  3 claims: 2 not tested at this size, 1 held" in text
    assert "`fedatlas ui` shows the runs" in text
    assert text.count("Made") == 1 and f"Made      {report}\nOpen      {(project.folder / report).as_uri()}\n" in text
    assert "none.html" not in text and "(laptop)" not in text
    assert all(len(line) <= 80 or line.startswith("Open      file:///") for line in text.splitlines())
    (folder / "mlflow.json").write_text('{"results/smoke/tiny": {"pending": "the server is down"}}')
    text = summary.summary(Study.open(), [report])
    assert "MLflow    lacks an experiment: `fedatlas track` logs what is missing" in text
    (folder / "claims.csv").write_text("nothing\n5\n")
    text = summary.summary(Study.open(), ["results/smoke/tiny/claims.csv"])
    assert text.startswith("Warning   results/smoke/tiny/claims.csv holds no")


def test_a_dry_run_tells_jobs_why_and_the_code_that_has_changed_in_few_lines(project):
    target = "results/smoke/tiny/runs/fedavg/all.parquet"
    project.snakemake(target)
    assert "Nothing to do" in (output := project.snakemake("-n", *LOGGER, target).stdout) and "Changed" not in output
    project.edit("src/fedatlas/federation/algorithms/fedavg.py", "option(1.0, doc=", "option(1.25, doc=")
    lines = project.snakemake("-n", *LOGGER, target).stdout.splitlines()
    assert re.sub(" +", " ", lines[3]) == "train 1" and "    params have changed since last execution:" in lines
    assert lines[-1] == "Changed code, with all that it imports: federation.algorithms.fedavg (1 job)"
    assert len(lines) < 12
    assert "Changed code" not in project.snakemake("-n", "--quiet", "all", *LOGGER, target).stdout
