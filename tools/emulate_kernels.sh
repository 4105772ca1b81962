#!/usr/bin/env bash
# Runs kernels' own sources on the CPU, every access checked: a set that covers every pair of settings, and a random sample.
#
# Usage: tools/emulate_kernels.sh [--build FOLDER] [--no-cover] [SAMPLE [PROBLEMS [SEED]]]   (200 kernels, 6 problems; the seed is printed)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tools/lib/common.sh"
cd "$root"
build=build/dev
cover=yes
while [[ ${1:-} == --* ]]; do
  case $1 in
    --build) build=$2; shift 2 ;;
    --no-cover) cover=; shift ;;
    *) die "unknown flag $1" ;;
  esac
done
sample=${1:-200}
problems=${2:-6}
seed=${3:-$RANDOM$RANDOM}
quarry=$build/quarry
"$quarry" emulate --help >/dev/null 2>&1 || die "$quarry has no emulator: build the dev or asan preset"

# What gemm_sm80 promises beside right results: no bank conflict. (Of f64 sums, the epilogue reads 32 bytes a lane, in two goes.)
promising="family == gemm_sm80 and a.dtype != f64"
status=0
run() { shown "$quarry" emulate --problems "$problems" --seed "$seed" "$@" || status=1; }

if [[ -n $cover ]]; then
  say "every pair of settings, $problems problems each, seed $seed"
  run --cover --where "$promising" --no-conflicts
  run --cover --where "not ($promising)"
fi
if ((sample > 0)); then
  say "a sample of $sample kernels, $problems problems each, seed $seed"
  run --sample "$sample"
fi
say "emulated in $(elapsed); repeat it with the seed $seed"
exit $status
