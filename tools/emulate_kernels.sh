#!/usr/bin/env bash
# Runs the sources of kernels on the CPU and checks every access: a set that covers every pair of settings, and a random sample.
#
# Kernels of the set have few problems each, from another path on each; those of the sample one on each of their paths, and mixed ones.
#
# Usage: tools/emulate_kernels.sh [--build FOLDER] [--no-cover | --third 0|1|2] [SAMPLE [PROBLEMS [SEED]]]
# (60 kernels, 6 problems; the seed is printed. --third takes a third of the set, by families.)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tools/lib/common.sh"
cd "$root"
build=build/dev
cover=yes
third=
while [[ ${1:-} == --* ]]; do
  case $1 in
    --build) build=$2; shift 2 ;;
    --no-cover) cover=; shift ;;
    --third) third=${2:-none}; shift 2 ;;
    *) die "unknown flag $1" ;;
  esac
done
sample=${1:-60}
problems=${2:-6}
seed=${3:-$RANDOM$RANDOM}
quarry=$build/quarry
"$quarry" emulate --help >/dev/null 2>&1 || die "$quarry has no emulator: build the dev or asan preset"

# Thirds, by families: gemm_sm90 takes longest.
case $third in
  '') families=true ;;
  0) families="family == gemm_sm80 or family == conv2d_sm80" ;;
  1) families="family == gemm_sm90" ;;
  2) families="not (family == gemm_sm80 or family == conv2d_sm80 or family == gemm_sm90)" ;;
  *) die "--third takes 0, 1 or 2" ;;
esac

# What gemm_sm80 promises beside right results: no bank conflict. (Of f64 sums, the epilogue reads 32 bytes a lane, in two goes.)
promising="family == gemm_sm80 and a.dtype != f64"
status=0
run() { shown "$quarry" emulate --seed "$seed" "$@" || status=1; }

if [[ -n $cover ]]; then
  say "every pair of settings, $problems problems each, seed $seed${third:+, third $third}"
  [[ -n $third && $third != 0 ]] || run --problems "$problems" --cover --where "$promising" --no-conflicts
  run --problems "$problems" --cover --where "($families) and not ($promising)"
fi
if ((sample > 0)); then
  say "a sample of $sample kernels on all of their paths, seed $seed"
  run --sample "$sample"
fi
say "emulated in $(elapsed); repeat it with the seed $seed"
exit $status
