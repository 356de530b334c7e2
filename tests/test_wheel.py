"""What is installed: a wheel carries code, the workflow and the atlas's experiments, and no caches."""

import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

from tests.workflow.project import ROOT

IGNORED = (".git", ".venv", ".snakemake", "shared", "gallery")
JUNK = (
    "src/fedatlas/__pycache__/fingerprint.cpython-311.json",
    "src/fedatlas/federation/compiled/kernels.step-1.py311.nbi",
    "src/fedatlas/federation/compiled/kernels.step-1.py311.1.nbc",
    "workflow/.snakemake/log/a.log",
    "workflow/rules/__pycache__/a.pyc",
    "results/report.html",
    "data/raw/a9a",
)


pytestmark = pytest.mark.slow  # it builds the package


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Names of files in a wheel and in an sdist of a copy that holds caches, data and results."""
    pytest.importorskip("hatchling", reason="hatchling, which builds the package, is not installed")
    source, out = tmp_path_factory.mktemp("copy") / "fedatlas", tmp_path_factory.mktemp("built")
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*IGNORED, "data.lock", "__pycache__"), symlinks=True)
    for name in JUNK:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("junk")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(out)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive, tarfile.open(sdist) as sources:
        return set(archive.namelist()), {name.partition("/")[2] for name in sources.getnames()}


def below(folder, *parts):
    """Files of a folder of the repository, relative to it."""
    result = (path for part in parts for path in (ROOT / folder / part).rglob("*"))
    caches = {"__pycache__", ".snakemake"}
    return {str(path.relative_to(ROOT / folder)) for path in result if path.is_file() and not caches & set(path.parts)}


def test_the_wheel_carries_what_lies_in_the_repository(built):
    wheel, _ = built
    code = below("src", "fedatlas", "snakemake_logger_plugin_fedatlas")
    carried = {f"fedatlas/shipped/{name}" for name in below(".", "workflow", "config/experiments", "record")}
    assert {name for name in wheel if ".dist-info/" not in name} == code | carried
    assert {"fedatlas/shipped/workflow/Snakefile", "fedatlas/workflow/study_template/gitignore"} <= wheel
    assert any(name.startswith("fedatlas/shipped/workflow/profiles/slurm/") for name in wheel)
    information = {name.partition(".dist-info/")[2] for name in wheel}
    assert {
        "entry_points.txt",
        "licenses/LICENSE",
        "licenses/src/fedatlas/publish/report/chartjs/LICENSE",
    } <= information


def test_the_sdist_is_enough_to_build_and_test(built):
    _, sdist = built
    assert {"pyproject.toml", "README.md", "LICENSE", "workflow/Snakefile", "tests/test_wheel.py", "Makefile"} <= sdist
    assert "profiles/default/config.yaml" in sdist
    assert not {name for name in sdist if name.startswith(("data/", "results/", ".git/"))}


def test_neither_has_caches(built):
    for names in built:
        assert not names & set(JUNK)
        assert not {name for name in names if "__pycache__" in name or name.endswith((".nbi", ".nbc", ".pyc", ".log"))}
