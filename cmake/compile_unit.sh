#!/bin/sh
# compile_unit.sh LOG COMMAND...: runs a compiler, keeps what it prints in LOG and shows it when it fails.
log=$1
shift
"$@" >"$log" 2>&1
status=$?
if [ $status -ne 0 ]; then
  cat "$log" >&2
  rm -f "$log"
fi
exit $status
