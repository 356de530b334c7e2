#!/usr/bin/env bash
# Stops what up.sh started. A configuration without a controller would make every later start of Snakemake wait.
folder=$1
stop() {
  [ -f "$1" ] || return 0
  pid=$(cat "$1")
  kill "$pid" 2>/dev/null
  for _ in $(seq 50); do
    case "$(ps -o stat= -p "$pid" 2>/dev/null)" in '' | Z*) return ;; esac
    sleep 0.1
  done
  kill -9 "$pid" 2>/dev/null
}
stop "$folder/slurmd.pid"
stop "$folder/slurmctld.pid"
[ -e "$folder/munged" ] && stop /run/munge/munged.pid
grep -qs "fedatlas tests/slurm/up.sh" /etc/slurm/slurm.conf && rm -f /etc/slurm/slurm.conf
rm -rf "$folder"
