#!/usr/bin/env bash
# Sets the machine up, builds the `dev` preset and runs every test but the long ones (tools/long_test.sh). Tests that need a GPU say
# `Skipped` where there is none.
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
shown ctest --test-dir build/dev --output-on-failure --parallel "$(nproc)" --label-exclude long || status=1

if ((status == 0)); then say "all tests passed in $(elapsed)"; else say "TESTS FAILED, see above ($(elapsed))"; fi
exit $status
