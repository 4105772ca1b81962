#!/usr/bin/env bash
# Builds the fuzzers (fuzz preset: clang, with the address and undefined-behaviour sanitizers) and runs each harness of tests/fuzz for so
# many seconds, one a processor at a time. Prints how many inputs each one executed. Inputs that fail are kept in build/fuzz/findings;
# the exit status is 1 where there are any. Inputs that reached new code are kept in build/fuzz/corpus, where the next run starts from.
#
#
# With QUARRY_SEED (any text) libFuzzer draws from a seed made of it, and does not read what others found meanwhile: the same inputs in
# the same order, as far as the time and build/fuzz/corpus are the same.
#
# Usage: tools/fuzz.sh SECONDS [HARNESS...]   (all harnesses unless told)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tools/setup.sh"
cd "$root"
[[ ${1:-} =~ ^[1-9][0-9]*$ ]] || die "usage: tools/fuzz.sh SECONDS [HARNESS...]"
seconds=$1
shift
ensure_fuzzer || die "fuzzing needs clang with libFuzzer and the sanitizers (Debian: clang), and it could not be installed"

say "build (fuzz preset)"
configure fuzz build/fuzz
shown cmake --build build/fuzz --target quarry_fuzz

names=("$@")
if ((${#names[@]} == 0)); then
  for folder in tests/fuzz/corpus/*/; do names+=("$(basename "$folder")"); done
fi
mkdir -p build/fuzz/findings build/fuzz/logs

# A seed of libFuzzer has 32 bits, and 0 means any.
seed=
if [[ -n ${QUARRY_SEED:-} ]]; then
  checksum=$(printf '%s' "$QUARRY_SEED" | cksum)
  seed=$((${checksum%% *} | 1))
fi

# fuzz NAME: runs one harness; prints its number of executions.
fuzz() {
  # The paths are absolute, because a harness works in a folder of its own.
  local name=$1 tests=$root/tests/fuzz build=$root/build/fuzz
  local dictionary=$tests/dictionaries/$name.dict folders=("$build/corpus/$name" "$tests/corpus/$name") options=()
  [[ -d $tests/findings/$name ]] && folders+=("$tests/findings/$name")
  [[ -f $dictionary ]] && options+=("-dict=$dictionary")
  [[ -n $seed ]] && options+=("-seed=$seed" -reload=0)
  mkdir -p "$build/corpus/$name"
  QUARRY_FUZZ_HARNESS=$name nice "$build/quarry_fuzz" "-max_total_time=$seconds" -max_len=512 -timeout=30 -rss_limit_mb=4096 \
    -print_final_stats=1 "-artifact_prefix=$build/findings/$name-" "${options[@]}" "${folders[@]}" >"$build/logs/$name" 2>&1 || true
  sed -n 's/^stat::number_of_executed_units: *//p' "$build/logs/$name"
}

say "$seconds seconds each"
export -f fuzz
export root seconds seed
printf '%s\n' "${names[@]}" | xargs -P "$(nproc)" -I NAME bash -c 'fuzz NAME >build/fuzz/logs/NAME.executions'
sum=0
status=0
for name in "${names[@]}"; do
  executions=$(<"build/fuzz/logs/$name.executions")
  if [[ -z $executions ]]; then
    tail -n 30 "build/fuzz/logs/$name" >&2
    say "$name did not end in order: build/fuzz/logs/$name"
    status=1
  fi
  printf '%-26s %12d executions\n' "$name" "${executions:-0}"
  sum=$((sum + ${executions:-0}))
done
printf '%-26s %12d executions\n' "all" "$sum"

mapfile -t findings < <(find build/fuzz/findings -type f | sort)
if ((${#findings[@]} > 0)); then
  printf 'finding: %s\n' "${findings[@]}" >&2
  status=1
fi
exit $status
