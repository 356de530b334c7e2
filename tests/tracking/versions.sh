#!/usr/bin/env bash
# tests/tracking with the oldest and the newest MLflow that pyproject.toml allows, or with the versions that are given,
# each in a new environment. It fails if a test fails, or if the tables of a version are not among those in TESTED of
# publish/tracking/private.py: then add the revision that it prints.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-python3}
range=$(grep -oP '"mlflow\K>=[^"]*' pyproject.toml)
oldest=$(grep -oP '>=\K[0-9.]+' <<<"$range")
[ $# -gt 0 ] || set -- "$oldest" newest
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

failed=0
for version in "$@"; do
  wanted="==$version"
  [ "$version" != newest ] || wanted=$range
  rm -rf "$folder/environment"
  "$python" -m venv "$folder/environment"
  "$folder/environment/bin/pip" install --quiet --disable-pip-version-check -e ".[test]" "mlflow$wanted"
  "$folder/environment/bin/python" - <<'PYTHON' || failed=1
import sys
import tempfile
from pathlib import Path

import mlflow

from fedatlas.publish.tracking.private import TESTED, revision
from fedatlas.publish.tracking.connection import connect

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "mlflow.db"
    with connect(f"sqlite:///{path}"):
        found = revision(path)
print(f"MLflow {mlflow.__version__}: revision {found}, {TESTED.get(found, 'not among the tested ones')}", flush=True)
sys.exit(found not in TESTED)
PYTHON
  "$folder/environment/bin/python" -m pytest -q tests/tracking || failed=1
done
exit $failed
