#!/usr/bin/env bash
# Sets the machine up, builds the `dev` preset and runs every test; then the unit tests once more with the address and
# undefined-behaviour sanitizers; then kernels' own sources in the emulator, without and with sanitizers. Tests that need a GPU say `Skipped` where there is none. 15 minutes at most on two cores.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tools/setup.sh"
ensure_optional_packages
cd "$root"

say "build (dev preset)"
configure dev build/dev
shown cmake --build build/dev

say "tests"
status=0
shown ctest --test-dir build/dev --output-on-failure --parallel "$(nproc)" || status=1

say "unit tests with sanitizers (asan preset, host code only)"
configure asan build/asan -DQUARRY_AOT=false
shown cmake --build build/asan --target quarry_unit
shown ctest --test-dir build/asan --output-on-failure --parallel "$(nproc)" --tests-regex '^unit:' --no-tests=error || status=1

if ((status == 0)); then say "all tests passed in $(elapsed)"; else say "TESTS FAILED, see above ($(elapsed))"; fi
exit $status
