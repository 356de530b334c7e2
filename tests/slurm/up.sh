#!/usr/bin/env bash
# Starts a single-node SLURM (Debian's packages, 22.05 or newer) on loopback: as root, without systemd and cgroups.
# up.sh FOLDER; down.sh FOLDER stops it. The node claims more CPUs and memory than it need have: this tests scheduling.
set -euo pipefail
folder=$1 node=$(hostname -s)
conf=/etc/slurm/slurm.conf  # elsewhere the job step plugin would not find it: it drops SLURM_CONF
mkdir -p "$folder"/{state,spool,log} /run/munge
chown munge:munge /run/munge /var/log/munge /var/lib/munge /etc/munge
chmod 755 /run/munge
[ -e /etc/munge/munge.key ] || runuser -u munge -- /usr/sbin/mungekey
munge -n >/dev/null 2>&1 || { runuser -u munge -- /usr/sbin/munged --force; touch "$folder/munged"; }
munge -n | unmunge >/dev/null

cat > "$conf" <<CONF
# made by fedatlas tests/slurm/up.sh
ClusterName=fedatlas
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$folder/log/jobs.txt
DefMemPerCPU=1000
MinJobAge=600
KillWait=5
NodeName=$node NodeAddr=127.0.0.1 CPUs=4 Sockets=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=64000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
/usr/sbin/slurmctld
/usr/sbin/slurmd -N "$node"
for _ in $(seq 100); do
  timeout 10 sinfo -h -o %T 2>/dev/null | grep -q idle && exit 0
  sleep 0.2
done
echo "SLURM did not come up; see $folder/log" >&2
exit 1
