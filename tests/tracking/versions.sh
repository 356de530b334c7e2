#!/usr/bin/env bash
# tests/tracking with the oldest and the newest MLflow that pyproject.toml allows, or with the versions that are given,
# each in a new environment. It fails if a test fails, or if the tables of the newest version are not among those in
# TESTED_REVISIONS of publish/tracking/writers.py: then add the revision that it prints. Into tables of other versions,
# runs are written through MLflow's public client.
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
  "$folder/environment/bin/python" - "$version" <<'PYTHON' || failed=1
import sys
import tempfile
from pathlib import Path

import mlflow

from fedatlas.publish.tracking.connection import connect
from fedatlas.publish.tracking.sqlite import revision
from fedatlas.publish.tracking.writers import TESTED_REVISIONS

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "mlflow.db"
    with connect(f"sqlite:///{path}"):
        found = revision(path)
print(f"MLflow {mlflow.__version__}: revision {found}, {TESTED_REVISIONS.get(found, 'not among the tested ones')}", flush=True)
sys.exit(sys.argv[1] == "newest" and found not in TESTED_REVISIONS)
PYTHON
  "$folder/environment/bin/python" -m pytest -q tests/tracking || failed=1
done
exit $failed
