#!/usr/bin/env bash
# Sets the machine up, builds the `dev` preset and runs every test but the long ones (tools/long_test.sh). Tests that need a GPU say
# `Skipped` where there is none.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tools/setup.sh"
ensure_optional_packages
cd "$root"
status=0

python=()
if ensure_python_packages; then
  python=(-DQUARRY_PYTHON=ON "-DPython_EXECUTABLE=$python_folder/bin/python")
else
  say "THE PYTHON PACKAGE IS SKIPPED: its build needs ${python_packages[*]}, which could not be installed"
fi

say "build (dev preset)"
configure dev build/dev "${python[@]}"
shown cmake --build build/dev

say "tests"
shown ctest --test-dir build/dev --output-on-failure --parallel "$(nproc)" --label-exclude '^(long|leaks)$' || status=1

if ((status == 0)); then say "all tests passed in $(elapsed)"; else say "TESTS FAILED, see above ($(elapsed))"; fi
exit $status
