#!/bin/sh
#PBS -N engines
#PBS -l select={n}:ncpus=1:mem=2gb
#PBS -l place=scatter
# A template: pxcluster start --engines=pbs -n 64 --queue=short --batch-template-file=pbs_engines.sh
# It makes one job whose engines are MPI ranks, not an array; the -J line keeps pxcluster from adding an array:
##PBS -J
{environment}
module load openmpi
cd "$PBS_O_WORKDIR"
exec mpiexec -n {n} {program_and_args} --mpi
