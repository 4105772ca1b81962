#!/usr/bin/env bash
# Checks that docs/fields.md is what the command writes. Usage: fields_page.sh QUARRY; with --update it writes the page.
set -euo pipefail
page=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/docs/fields.md
if [[ ${2:-} == --update ]]; then
  "$1" list --fields --format markdown >"$page"
elif ! diff -u "$page" <("$1" list --fields --format markdown); then
  echo "docs/fields.md is not up to date: tests/scripts/fields_page.sh $1 --update" >&2
  exit 1
fi
