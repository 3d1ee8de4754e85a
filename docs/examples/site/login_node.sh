#!/bin/sh
# On a login node: run the controller here and the engines in a job; work from a notebook or a shell here.
#   login_node.sh start [ENGINES] | stop | logs
# Set PX_TIME, PX_PARTITION, PX_ACCOUNT and PX_MODULES; write other options into ~/.ipython/profile_slurm/pxcluster.json.
set -eu
case "${1:-}" in
  start)
    pxcluster start --profile=slurm --engines=slurm -n "${2:-4}" --daemonize \
      --time="${PX_TIME:-1:00:00}" ${PX_PARTITION:+--partition="$PX_PARTITION"} \
      ${PX_ACCOUNT:+--account="$PX_ACCOUNT"} ${PX_MODULES:+--engine-env="module load $PX_MODULES"}
    ;;
  stop) pxcluster stop --profile=slurm ;;
  logs) pxcluster logs --profile=slurm --follow ;;
  *) sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
