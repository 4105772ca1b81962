#!/usr/bin/env bash
# Checks format (clang-format), scripts (shellcheck), names of tests, wording (plain_words.py) and code (clang-tidy) of our own sources.
# Usage: tools/lint.sh [--fix-format] [--tidy | --tidy-changed] [FILE.cpp...]
# clang-tidy reads the files that are named; with --tidy every source but the tests'; with --tidy-changed those that changed since
# origin/main (or in the last 20 commits, where there is no such branch) and a sample, at most 40 in all, drawn anew by each change of the sources.
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

sources() { find include basic kernels operations emulator generator registry lab python tools tests -name '*.[ch]pp' -o -name '*.cuh'; }

if [[ ${1:-} == --fix-format ]]; then
  format=$(clang_tool clang-format) || exit 1
  sources | xargs "$format" -i
  exit
fi

# The sources that clang-tidy reads: all but the tests', the emulator's, whose source_location clang 14 does not have, and one with a flag
# of GCC's.
tidy_sources() { find basic generator kernels lab operations registry tools -name '*.cpp' -not -path '*emulate*' -not -path 'generator/table.cpp' | sort; }

# Those of them that changed, then all others, both shuffled by the state of the sources.
changed_first() {
  local base head changed state
  head=$(git rev-parse HEAD)
  state=$(git rev-parse 'HEAD^{tree}')
  base=$(git merge-base HEAD origin/main 2>/dev/null || echo "$head")
  if [[ $base == "$head" ]]; then base=$(git rev-list -n 21 HEAD | tail -n 1); fi
  shuffled() { shuf --random-source=<(yes "$state"); }
  changed=$(mktemp)
  comm -12 <(tidy_sources) <(git diff --name-only "$base" | sort) >"$changed"
  shuffled <"$changed"
  comm -23 <(tidy_sources) "$changed" | shuffled
  rm "$changed"
}

tidy=()
case ${1:-} in
  --tidy) mapfile -t tidy < <(tidy_sources) ;;
  --tidy-changed) mapfile -t tidy < <(changed_first | sed -n 1,40p) ;;
  -*) die "unknown flag $1" ;;
  *) tidy=("$@") ;;
esac

status=0
if format=$(clang_tool clang-format); then
  say "format"
  sources | xargs "$format" --dry-run -Werror || status=1
fi

if command -v shellcheck >/dev/null; then
  say "scripts"
  shellcheck --severity=warning --shell=bash --exclude=SC2154,SC2164 tools/*.sh tools/lib/*.sh tests/scripts/*.sh .ci/run || status=1
fi

say "names of tests"
if grep -rnE --include='*.cpp' 'TEST_CASE\("[^"]*;' tests; then
  say "a semicolon in the name of a test: CTest would take it for two tests, and run neither"
  status=1
fi

say "wording"
python3 tests/scripts/plain_words.py || status=1

if ((${#tidy[@]} > 0)) && clang_tidy=$(clang_tool clang-tidy); then
  say "clang-tidy, ${#tidy[@]} files"
  [[ -f build/dev/compile_commands.json ]] || die "build/dev is not configured: run tools/test.sh first"
  # The code is compiled by GCC, whose warning names clang does not all know.
  mkdir -p build/dev/tidy
  python3 tools/lib/tidy_commands.py build/dev/compile_commands.json >build/dev/tidy/compile_commands.json
  printf '%s\n' "${tidy[@]}" | xargs -n 1 -P "$(nproc)" "$clang_tidy" --quiet -p build/dev/tidy \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-error 2>/dev/null || status=1
fi
((status == 0)) && say "lint: nothing to complain about ($(elapsed))"
exit $status
