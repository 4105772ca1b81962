#!/usr/bin/env bash
# Checks that the table of docs/coverage.md is what the command prints. Usage: coverage_page.sh QUARRY; with --update it writes the table.
set -euo pipefail
page=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/docs/coverage.md

# The page's introduction, which is written by hand, and the table as it should be.
should_be() {
  sed '/^<!-- Below this line/q' "$page"
  echo
  "$1" coverage --format markdown
}

should=$(should_be "$1")
if [[ ${2:-} == --update ]]; then
  printf '%s\n' "$should" >"$page"
elif ! diff -u "$page" <(printf '%s\n' "$should"); then
  echo "docs/coverage.md is not up to date: tests/scripts/coverage_page.sh $1 --update" >&2
  exit 1
fi
