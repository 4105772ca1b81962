#!/usr/bin/env bash
# What takes long, after tools/test.sh: random problems of all kinds, kernels' own sources in the emulator, fuzzing, then host code and
# emulated kernels once more with the address and undefined-behaviour sanitizers. What is drawn is drawn anew by each change of the sources, so that in time
# all is covered; the seed is printed. The sanitizers build everything once more. They run in one state of the sources of four, by the
# seed, and where the machine cannot fuzz. The fuzzers have the same sanitizers.
#
# Usage: tools/long_test.sh [--all] [SEED]   (--all: also the sanitizers and the wheel; the seed is by default made of the sources as committed)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tools/setup.sh"
cd "$root"
status=0
all=
if [[ ${1:-} == --all ]]; then all=yes; shift; fi
sources=$(git rev-parse --short=7 'HEAD^{tree}' 2>/dev/null || echo 0)
seed=${1:-$((16#$sources))}
say "seed $seed"

say "random problems"
shown ctest --test-dir build/dev --output-on-failure --label-regex long --no-tests=error || status=1

say "kernels in the emulator"
shown tools/emulate_kernels.sh 24 3 "$seed" || status=1

fuzz() {
  say "fuzzing"
  ensure_fuzzer || return
  shown tools/fuzz.sh fixed || status=1
}

sanitize() {
  say "the same with sanitizers (asan preset, host code only)"
  configure asan build/asan -DQUARRY_AOT=false
  shown cmake --build build/asan --target quarry_unit quarry_emulator_test quarry_arch quarry_cli
  shown ctest --test-dir build/asan --output-on-failure --parallel "$(nproc)" --tests-regex '^(unit|emulator|arch):' --no-tests=error || status=1
  shown tools/emulate_kernels.sh --build build/asan --no-cover 3 3 "$seed" || status=1
  shown build/asan/quarry verify --campaign 100 --on host || status=1
}

# The wheel, built twice, in one state of the sources of eight.
if [[ -n $all ]] || ((seed % 8 == 3)); then
  say "the wheel of the Python package, twice"
  shown tools/wheel_test.sh || status=1
fi

has_fuzzed=
if fuzz; then has_fuzzed=yes; else say "FUZZING IS SKIPPED: no clang with libFuzzer here, and it could not be installed"; fi
if [[ -n $all || -z $has_fuzzed ]] || ((seed % 4 == 1)); then sanitize; fi

if ((status == 0)); then say "all long tests passed in $(elapsed)"; else say "TESTS FAILED, see above ($(elapsed))"; fi
exit $status
