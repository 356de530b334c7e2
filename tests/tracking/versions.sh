#!/usr/bin/env bash
# tests/tracking with the oldest and the newest MLflow that pyproject.toml allows, or with the versions that are given,
# each in a new environment.
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
  "$folder/environment/bin/python" -c 'import mlflow; print(f"MLflow {mlflow.__version__}")'
  "$folder/environment/bin/python" -m pytest -q tests/tracking || failed=1
done
exit $failed
