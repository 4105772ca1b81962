#!/usr/bin/env bash
# Compiles a random sample of the kernels that build/dev does not precompile, so that "every registered kernel compiles" stays
# true between release builds. Usage: tools/compile_sample.sh [COUNT [SEED]]; the seed is printed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tools/setup.sh"
cd "$root"
count=${1:-24}
seed=${2:-$RANDOM$RANDOM}

[[ -x build/dev/quarry ]] || die "build/dev/quarry is not built: run tools/test.sh first"
precompiled=$(sed -n 's/^QUARRY_AOT:[A-Z]*=//p' build/dev/CMakeCache.txt)

say "a sample of $count kernels, seed $seed"
names=$(build/dev/quarry list --where "not ($precompiled)" --format names | python3 -c '
import random, sys
names = sys.stdin.read().split()
count, seed = int(sys.argv[1]), int(sys.argv[2])
print("\n".join(random.Random(seed).sample(names, min(count, len(names)))))' "$count" "$seed")
[[ -n $names ]] || die "every kernel is precompiled: nothing to sample"
printf '%s\n' "$names"
quoted=$(sed "s/.*/'&'/" <<<"$names" | paste -sd,)

configure dev build/sample "-DQUARRY_AOT=name in ($quoted)" -DQUARRY_BUILD_TESTS=OFF
shown cmake --build build/sample --target quarry_device_code
say "the sample compiles ($(elapsed)); repeat it with: tools/compile_sample.sh $count $seed"
