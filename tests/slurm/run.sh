#!/usr/bin/env bash
# The tour in a copy of the project, and a new study, through a real SLURM on this machine;
# skipped where that cannot be had. One job is cancelled while it runs, as a cluster may: it must be submitted again.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/tests/slurm

skip() { echo "SLURM test skipped: $1"; exit 0; }
[ "$(id -u)" = 0 ] || skip "starting SLURM's daemons takes root"
[ ! -e /etc/slurm/slurm.conf ] || skip "/etc/slurm/slurm.conf is there: this machine has a SLURM of its own"
export PATH=$PATH:/usr/sbin:/sbin
if ! { command -v slurmctld && command -v slurmd && command -v munged && command -v sbatch; } >/dev/null; then
  command -v apt-get >/dev/null || skip "SLURM is not installed and there is no apt-get"
  export DEBIAN_FRONTEND=noninteractive
  { timeout 120 apt-get update &&
    timeout 300 apt-get install -y --no-install-recommends slurm-wlm slurmctld slurmd munge; } >/dev/null 2>&1 ||
    skip "apt-get could not install slurm-wlm, slurmctld, slurmd and munge"
fi
python -c "import snakemake_executor_plugin_slurm" 2>/dev/null ||
  skip "the SLURM plugin of Snakemake is missing: pip install -e '.[slurm]'"

work=$(mktemp -d)
stop() { "$here/down.sh" "$work/slurm"; rm -rf "$work"; }
trap stop EXIT
"$here/up.sh" "$work/slurm" || skip "the daemons did not start"

mkdir "$work/project"
cp -a src workflow config "$work/project"  # with what is compiled
cd "$work/project"
export PYTHONPATH=$PWD/src${PYTHONPATH:+:$PYTHONPATH}
(
  until victim=$(timeout 10 squeue -h -t running -o %A | sort -n | sed -n 2p) && [ -n "$victim" ]; do sleep 1; done
  sleep 2
  timeout 10 scancel "$victim"
) &
submit() {  # SECONDS PROFILE ARGUMENT ...
  timeout --foreground "$1" python -m snakemake --profile "$2" --cores 4 --slurm-init-seconds-before-status-checks 5 \
    --latency-wait 10 "${@:3}" > run.log 2>&1 || { tail -60 run.log; exit 1; }
}
submit 360 workflow/profiles/slurm --config tour="[fedac_fig1,fedspeed_lenet]"
python "$here/check.py" "$work/slurm/log/jobs.txt"

# the extension of a study is found by the jobs of every node
python -m fedatlas init "$work/my-study" > /dev/null
cd "$work/my-study"
submit 240 profiles/slurm
ls results/smoke/first/runs/my_algorithm/*.parquet results/report.html > /dev/null
echo "a study with an algorithm of its own, on SLURM: $(grep -c "has been submitted" run.log) jobs"

# a job that exceeds its memory gets more, and one that exceeds its time goes on in its next attempt
cp "$here/limits.py" extensions
cp "$here/limits.yaml" config/experiments
submit 360 profiles/slurm results/smoke/limits/table.parquet --config size=smoke --group-components cells=1 \
  --resources place=1 runtime=1
grep -q "hungry all failed" run.log && grep -q "slow all failed" run.log && grep -q "DUE TO TIME LIMIT" run.log &&
  grep -qi "oom.kill\|memory limit" run.log &&
  [ "$(grep -c "Trying to restart" run.log)" -ge 2 ] || { cat run.log; exit 1; }
