#!/usr/bin/env bash
# Checks format (clang-format), scripts (shellcheck), wording (plain_words.py) and code (clang-tidy) of our own sources.
# Usage: tools/lint.sh [--fix-format] [--tidy] [FILE.cpp...]
# clang-tidy reads the files that are named, or with --tidy every source of the library, the generator and the command.
# Other versions than clang 14 format otherwise, so a missing tool or another version is said and skipped, not an error.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tools/lib/common.sh"
cd "$root"

# Prints the command of a clang tool in version 14; fails when there is none.
clang_tool() {
  local name
  for name in "$1-14" "$1"; do
    if command -v "$name" >/dev/null && "$name" --version | grep -q 'version 14\.'; then echo "$name"; return; fi
  done
  say "no $1 14 here: its check is skipped"
  return 1
}

sources() { find include basic kernels operations emulator generator registry lab tools tests -name '*.[ch]pp' -o -name '*.cuh'; }

if [[ ${1:-} == --fix-format ]]; then
  format=$(clang_tool clang-format) || exit 1
  sources | xargs "$format" -i
  exit
fi

tidy_all=
if [[ ${1:-} == --tidy ]]; then tidy_all=yes; shift; fi

status=0
if format=$(clang_tool clang-format); then
  say "format"
  sources | xargs "$format" --dry-run -Werror || status=1
fi

if command -v shellcheck >/dev/null; then
  say "scripts"
  shellcheck --severity=warning --shell=bash --exclude=SC2154,SC2164 tools/*.sh tools/lib/*.sh tests/scripts/*.sh .ci/run || status=1
fi

say "wording"
python3 tests/scripts/plain_words.py || status=1

if [[ -n $tidy_all || $# -gt 0 ]] && tidy=$(clang_tool clang-tidy); then
  say "clang-tidy"
  [[ -f build/dev/compile_commands.json ]] || die "build/dev is not configured: run tools/test.sh first"
  files=("$@")
  if ((${#files[@]} == 0)); then
    mapfile -t files < <(find generator registry emulator tools kernels -name '*.cpp' | sort)
  fi
  # The code is compiled by GCC, whose warning names clang does not all know.
  printf '%s\n' "${files[@]}" | xargs -n 1 -P "$(nproc)" "$tidy" --quiet -p build/dev \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-error 2>/dev/null || status=1
fi
((status == 0)) && say "lint: nothing to complain about ($(elapsed))"
exit $status
