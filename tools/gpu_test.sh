#!/usr/bin/env bash
# What only a GPU can tell, on the machine that has one: builds every kernel, runs the GPU tests, verifies every registered
# kernel against float64, gives random problems of all kinds to the registry, and runs a sample of each family under
# compute-sanitizer. Prints a short table last.
#
# Usage: tools/gpu_test.sh [build|tests|verify|campaign|sanitize]...   (default: all of them, in this order)
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
quarry=build/all/quarry
logs=build/gpu_logs
mkdir -p "$logs"
failed=0
table=()

# Runs a step, its output into a log, and remembers how it went.
step() {
  local name=$1
  shift
  local start=$SECONDS
  if "$@" >"$logs/$name.log" 2>&1; then
    table+=("$name: ok, $((SECONDS - start)) s: $(tail -n 1 "$logs/$name.log")")
  else
    table+=("$name: FAILED, $((SECONDS - start)) s, see $logs/$name.log")
    tail -n 25 "$logs/$name.log"
    failed=1
  fi
}

build() { step build sh -c 'cmake --preset all && cmake --build build/all'; }
tests() { step tests ctest --test-dir build/all --label-regex gpu --output-on-failure; }
verify() { step verify "$quarry" verify --on device; }
campaign() { step campaign "$quarry" verify --campaign 20000 --on device; }

# Kernels of every kind of operand copy and layout, two of each family at least.
sample() {
  "$quarry" list --format names --where "family == gemm_sm80 and tile.m == 64 and tile.n == 64 and stages == 3 and out.dtype == f16" |
    awk 'NR % 5 == 1' | head -n 8
  "$quarry" list --format names --where "family == gemm_sm80 and warps.k > 1 and a.alignment == 8" | awk 'NR % 40 == 1' | head -n 3
  "$quarry" list --format names --where "family == gemm_simt" | awk 'NR % 40 == 1' | head -n 4
  local kind
  for kind in "schedule == cooperative" "schedule == ping_pong" "schedule == one_tile" "copy_engine == cp_async" "cluster.m == 2" "reorders" \
    "scales == vector_scales" "scales == block_scales" "scales == group_scales" "scales == zero_points"; do
    "$quarry" list --format names --where "family == gemm_sm90 and $kind" | awk 'NR % 61 == 1' | head -n 3
  done
  for kind in gemm_narrow_sm80 grouped_gemm_sm90 grouped_gemm_sm80 gemm_list_sm90 gemm_list_sm80 conv2d_sm90 conv2d_sm80; do
    "$quarry" list --format names --where "family == $kind" | awk 'NR % 37 == 1' | head -n 3
  done
}

# racecheck reports scales of blocks, which are read and written in turns: lane 0 arrives for its warp behind a warp barrier that the assembler
# leaves out where it knows that lanes stand together, so that the tool does not see it.
sanitize() {
  sample >"$logs/memcheck.txt"
  grep -v block_scales "$logs/memcheck.txt" >"$logs/racecheck.txt"
  for tool in memcheck racecheck; do
    step "$tool" sh -c "compute-sanitizer --tool $tool --error-exitcode 1 $quarry verify --on device --problems 6 - <$logs/$tool.txt"
  done
}

for part in "${@:-build tests verify campaign sanitize}"; do
  for one in $part; do ((failed)) || "$one"; done
done
printf '%s\n' "${table[@]}"
exit $failed
