"""A real Slurm (slurmctld, slurmd, munge) on the hosts of a bed."""

import os

import bed as beds

CONFIGURATION = """\
ClusterName=test
SlurmctldHost=host1
StateSaveLocation=/srv/slurmctld
SlurmdSpoolDir=/srv/slurmd
SlurmctldLogFile=/srv/slurmctld.log
SlurmdLogFile=/srv/slurmd.log
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdTimeout=5
KillWait=10
SlurmdParameters=config_overrides
NodeName=host[1-{count}] CPUs=2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES State=UP OverTimeLimit=0
"""

START = """\
set -e
mkdir -p /run/munge /srv/slurmctld /srv/slurmd
munged --key-file="$PWD/munge.key" --socket=/run/munge/munge.socket.2 \\
  --pid-file=/run/munge/munged.pid --log-file=/run/munge/munged.log --seed-file=/run/munge/munged.seed
[ "$HOSTNAME" != host1 ] || slurmctld -f "$SLURM_CONF"
slurmd -f "$SLURM_CONF"
"""


def start_slurm(bed):
    """Starts it; gives the environment of those who use it. All nodes are idle on return."""
    configuration = bed.folder / "slurm.conf"
    configuration.write_text(CONFIGURATION.format(count=bed.count))
    key = bed.folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    (bed.folder / "start").write_text(START)
    environment = {"SLURM_CONF": configuration}
    for host in bed.hosts:
        bed.exec_on(host, "sh", "start", **environment)

    def is_idle():
        told = bed.exec_on("host1", "sinfo", "-h", "-o", "%D %t", check=False, **environment)
        return told.stdout.strip() == f"{bed.count} idle"

    beds.wait_until(is_idle, "idle nodes")
    return environment
