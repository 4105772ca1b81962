#!/usr/bin/env bash
# Sets the machine up, builds the `dev` preset, runs every test, and kernels' own sources in the emulator; then host code and
# emulated kernels once more with the address and undefined-behaviour sanitizers. Tests that need a GPU say `Skipped` where there is
# none. 25 minutes at most on two cores.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tools/setup.sh"
ensure_optional_packages
cd "$root"
status=0

say "build (dev preset)"
configure dev build/dev
shown cmake --build build/dev

say "tests"
shown ctest --test-dir build/dev --output-on-failure --parallel "$(nproc)" || status=1

say "kernels in the emulator"
shown tools/emulate_kernels.sh 200 3 || status=1

say "the same with sanitizers (asan preset, host code only)"
configure asan build/asan -DQUARRY_AOT=false
shown cmake --build build/asan --target quarry_unit quarry_emulator_test quarry_arch quarry_cli
shown ctest --test-dir build/asan --output-on-failure --parallel "$(nproc)" --tests-regex '^(unit|emulator|arch):' --no-tests=error || status=1
shown tools/emulate_kernels.sh --build build/asan --no-cover 24 3 || status=1
shown build/asan/quarry verify --campaign 100 --on host || status=1

if ((status == 0)); then say "all tests passed in $(elapsed)"; else say "TESTS FAILED, see above ($(elapsed))"; fi
exit $status
