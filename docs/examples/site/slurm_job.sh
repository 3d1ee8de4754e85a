#!/bin/sh
# A whole cluster in one Slurm job, without a login node:  sbatch -n 16 slurm_job.sh work.py
# The controller runs on the job's first host, the engines are the job's tasks, and the script uses them.
#SBATCH --job-name=polyxeus
#SBATCH --ntasks=4
#SBATCH --time=0:30:00
set -eu
# module load python openmpi; . ~/venv/bin/activate

cluster="--cluster-id=$SLURM_JOB_ID"
pxcluster start "$cluster" --engines=slurm -n "$SLURM_NTASKS" --daemonize
trap 'pxcluster stop "$cluster"' EXIT

if [ $# -gt 0 ]; then
  IPP_CLUSTER_ID=$SLURM_JOB_ID python "$@"   # there: polyxeus.Client(cluster_id=os.environ["IPP_CLUSTER_ID"])
else
  pxcluster px "$cluster" 'import socket; print(mpi_rank, "of", mpi_size, "on", socket.gethostname())'
fi
