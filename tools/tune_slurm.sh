#!/usr/bin/env bash
#SBATCH --job-name=quarry-tune
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --gpus-per-task=1
#SBATCH --time=01:00:00
# Tunes the problems of a job array, each task a part of them, into a file of its own: docs/tuning.md.
# Usage: sbatch --array=0-15 tune_slurm.sh FOLDER PROBLEMS-AND-FLAGS-OF-QUARRY-TUNE...
# The command `quarry` is found through PATH.
set -euo pipefail

if (($# < 2)) || [[ -z ${SLURM_ARRAY_TASK_ID:-} ]]; then
  echo "usage: sbatch --array=0-15 $0 FOLDER PROBLEMS-AND-FLAGS-OF-QUARRY-TUNE..." >&2
  exit 2
fi
folder=$1
shift
mkdir -p "$folder"
exec quarry tune "$@" -o "$folder/part-$(printf %05d "$SLURM_ARRAY_TASK_ID").jsonl"
