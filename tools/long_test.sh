#!/usr/bin/env bash
# What takes long, after tools/test.sh: random problems of all kinds, kernels' own sources in the emulator, and one of the parts that
# build everything once more. What is drawn, and which part, is another in each state of the sources, so that in time all is covered.
#
# Usage: tools/long_test.sh [--all | --part PART] [SEED]   (all parts, or this one alone; the seed is by default made of the sources as committed)
#   fuzzing     by clang with the address and undefined-behaviour sanitizers
#   sanitizers  host code with the same sanitizers by GCC; also where the machine cannot fuzz
#   emulator    the emulator and emulated kernels with these sanitizers
#   demo        tools/demo.sh from nothing, with the CUDA compiler from PyPI
#   wheel       the Python package's wheel, built twice, and what its calls leave in memory
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tools/setup.sh"
cd "$root"
status=0
all_parts=(fuzzing sanitizers emulator demo wheel)
parts=()
common=yes
case ${1:-} in
  --all) parts=("${all_parts[@]}"); shift ;;
  --part)
    [[ " ${all_parts[*]} " == *" ${2:-} "* ]] || die "--part takes one of: ${all_parts[*]}"
    parts=("$2") common=; shift 2 ;;
  -*) die "unknown flag $1" ;;
esac
sources=$(git rev-parse --short=7 'HEAD^{tree}' 2>/dev/null || echo 0)
seed=${1:-$((16#$sources))}
((${#parts[@]} > 0)) || parts=("${all_parts[seed % ${#all_parts[@]}]}")
say "seed $seed: ${common:+random problems, the emulator, }${parts[*]}"

random_problems() {
  say "random problems"
  shown ctest --test-dir build/dev --output-on-failure --label-regex '^long$' --no-tests=error || status=1

  say "kernels in the emulator"
  local third=()
  ((${#parts[@]} == ${#all_parts[@]})) || third=(--third $((seed / ${#all_parts[@]} % 3)))
  shown tools/emulate_kernels.sh "${third[@]}" 24 3 "$seed" || status=1
}

fuzzing() {
  say "fuzzing"
  if ensure_fuzzer; then
    shown tools/fuzz.sh fixed || status=1
  else
    say "FUZZING IS SKIPPED: no clang with libFuzzer here, and it could not be installed"
    [[ " ${parts[*]} " == *" sanitizers "* ]] || sanitizers
  fi
}

# with_sanitizers TESTS TARGET...: builds these and runs their tests.
with_sanitizers() {
  local tests=$1
  shift
  configure asan build/asan -DQUARRY_AOT=false
  shown cmake --build build/asan --target "$@"
  shown ctest --test-dir build/asan --output-on-failure --parallel "$(nproc)" --tests-regex "$tests" --no-tests=error || status=1
}

sanitizers() {
  say "sanitizers (asan preset, host code only)"
  with_sanitizers '^unit:' quarry_unit quarry_cli
  shown build/asan/quarry verify --campaign 100 --on host || status=1
}

emulator() {
  say "sanitizers in the emulator (asan preset)"
  with_sanitizers '^(emulator|arch):' quarry_emulator_test quarry_arch quarry_cli
  shown tools/emulate_kernels.sh --build build/asan --no-cover 3 3 "$seed" || status=1
}

demo() {
  say "the demo from nothing, with the CUDA compiler from PyPI"
  rm -rf build/demo build/cuda-wheels
  QUARRY_HIDE_TOOLKIT=1 shown tools/demo.sh build/demo || status=1
  if ! grep -q "^QUARRY_NVCC:FILEPATH=$root/build/cuda-wheels/" build/demo/CMakeCache.txt; then
    say "the demo was not built with the compiler from PyPI"
    status=1
  fi
}

wheel() {
  say "calls of the Python package keep no memory"
  shown ctest --test-dir build/dev --output-on-failure --label-regex '^leaks$' --no-tests=error || status=1

  say "the wheel of the Python package, twice"
  shown tools/wheel_test.sh || status=1
}

[[ -z $common ]] || random_problems
for part in "${parts[@]}"; do "$part"; done

if ((status == 0)); then say "all long tests passed in $(elapsed)"; else say "TESTS FAILED, see above ($(elapsed))"; fi
exit $status
