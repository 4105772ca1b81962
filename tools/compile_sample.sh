#!/usr/bin/env bash
# Compiles a random 5 percent of the kernels that build/dev does not precompile, at run time as a user would, so that "every
# registered kernel compiles" stays true between release builds. Usage: tools/compile_sample.sh [FLAGS OF quarry_compile_check];
# `--all` compiles every kernel, `--percent`, `--count` and `--seed` choose the sample, whose seed is printed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tools/lib/common.sh"
check=$root/build/dev/tests/registry/compile/at_run_time/quarry_compile_check

[[ -x $check ]] || die "build/dev is not built: run tools/test.sh first"
say "kernels that are compiled at run time"
status=0
shown "$check" "$@" || status=$?
case $status in
  0) say "the sample compiles ($(elapsed))" ;;
  4) die "nothing was compiled: there is no run-time compiler" ;;
  *) die "the sample does not compile; repeat it with --seed and the seed above" ;;
esac
