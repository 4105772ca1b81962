#!/usr/bin/env bash
# Builds the fuzzers (fuzz preset: clang, with the address and undefined-behaviour sanitizers) and runs the harnesses of tests/fuzz, one a
# processor at a time. Prints how many inputs each one executed. Inputs that fail are kept in build/fuzz/findings and printed in base64
# behind the end of their log; the exit status is 1 where there are any.
#
# With SECONDS each harness runs for so long. Inputs that reached new code are kept in build/fuzz/corpus, where the next run starts from.
# With `fixed` each harness executes as many inputs as tests/fuzz/executions.txt says (about 20 seconds), drawn from QUARRY_SEED (any text),
# and starts from the tree's corpus alone: the inputs are the same in every run of a build, however fast the machine is. (Coverage, which
# libFuzzer draws by, depends on addresses a little: they are not randomised where the system lets a process ask for that.)
#
# Usage: tools/fuzz.sh SECONDS|fixed [HARNESS...]   (all harnesses unless told)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tools/setup.sh"
cd "$root"
[[ ${1:-} =~ ^([1-9][0-9]*|fixed)$ ]] || die "usage: tools/fuzz.sh SECONDS|fixed [HARNESS...]"
amount=$1
shift
ensure_fuzzer || die "fuzzing needs clang with libFuzzer and the sanitizers (Debian: clang), and it could not be installed"

say "build (fuzz preset)"
configure fuzz build/fuzz
shown cmake --build build/fuzz --target quarry_fuzz

names=("$@")
if ((${#names[@]} == 0)); then
  for folder in tests/fuzz/corpus/*/; do names+=("$(basename "$folder")"); done
fi
rm -rf build/fuzz/logs
mkdir -p build/fuzz/findings build/fuzz/logs

same_addresses=
if setarch -R true 2>/dev/null; then same_addresses=yes; fi

# A seed of libFuzzer has 32 bits, and 0 means any.
checksum=$(printf '%s' "${QUARRY_SEED:-}" | cksum)
seed=$((${checksum%% *} | 1))

# executions_of NAME: how many inputs `fixed` executes.
executions_of() {
  sed -n "s/^$1 \\([0-9]\\+\\)$/\\1/p" "$root/tests/fuzz/executions.txt"
}

# fuzz NAME: runs one harness; prints its number of executions.
fuzz() {
  # The paths are absolute, because a harness works in a folder of its own.
  local name=$1 tests=$root/tests/fuzz build=$root/build/fuzz run=(nice)
  local dictionary=$tests/dictionaries/$name.dict corpus=$build/corpus/$name options=()
  if [[ $amount == fixed ]]; then
    # What is found meanwhile goes to a folder that is empty at first, and nothing is read from it.
    corpus=$build/fixed_corpus/$name
    rm -rf "$corpus"
    options+=("-runs=$(executions_of "$name")" "-seed=$seed" -reload=0 -max_total_time=400)
    [[ -n $same_addresses ]] && run=(setarch -R nice)
  else
    options+=("-max_total_time=$amount")
  fi
  mkdir -p "$corpus"
  local folders=("$corpus" "$tests/corpus/$name")
  [[ -d $tests/findings/$name ]] && folders+=("$tests/findings/$name")
  [[ -f $dictionary ]] && options+=("-dict=$dictionary")
  QUARRY_FUZZ_HARNESS=$name "${run[@]}" "$build/quarry_fuzz" -max_len=512 -timeout=60 -report_slow_units=60 -rss_limit_mb=4096 -print_final_stats=1 \
    "-artifact_prefix=$build/findings/$name-" "${options[@]}" "${folders[@]}" >"$build/logs/$name" 2>&1 ||
    touch "$build/logs/$name.failed"
  sed -n 's/^stat::number_of_executed_units: *//p' "$build/logs/$name"
}

if [[ $amount == fixed ]]; then
  for name in "${names[@]}"; do
    [[ -n $(executions_of "$name") ]] || die "tests/fuzz/executions.txt does not say how many inputs $name executes"
  done
  say "fixed numbers of inputs, seed $seed"
else
  say "$amount seconds each"
fi
export -f fuzz executions_of
export root seed amount same_addresses
printf '%s\n' "${names[@]}" | xargs -P "$(nproc)" -I NAME bash -c 'fuzz NAME >build/fuzz/logs/NAME.executions'
sum=0
status=0
for name in "${names[@]}"; do
  executions=$(<"build/fuzz/logs/$name.executions")
  printf '%-26s %12d executions\n' "$name" "${executions:-0}"
  sum=$((sum + ${executions:-0}))
done
printf '%-26s %12d executions\n' "all" "$sum"

for name in "${names[@]}"; do
  [[ ! -e build/fuzz/logs/$name.failed && -n $(<"build/fuzz/logs/$name.executions") ]] && continue
  tail -n 60 "build/fuzz/logs/$name" >&2
  say "$name did not end in order: build/fuzz/logs/$name"
  status=1
done
mapfile -t findings < <(find build/fuzz/findings -type f | sort)
for finding in "${findings[@]}"; do
  printf 'finding: %s\n%s\n' "$finding" "$(base64 -w 0 "$finding")" >&2
  status=1
done
exit $status
