#!/usr/bin/env bash
# On a machine with a GPU: a hundred random kernels on random problems, run by the build that holds all machine code and by one that holds
# none and compiles each when it is needed. Their outputs must be the same bit for bit.
# Usage: tools/jit_compare.sh [COUNT [SEED]]   (needs build/all; makes build/jit; the seed is printed)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tools/lib/common.sh"
cd "$root"
count=${1:-100}
seed=${2:-$RANDOM$RANDOM}
cmake --preset all -B build/jit -DQUARRY_AOT=false >/dev/null
cmake --build build/jit --target quarry_output_digests >/dev/null
QUARRY_COMPILER=off build/all/tests/quarry_output_digests "$count" "$seed" >build/digests.precompiled
QUARRY_CACHE_DIR=$(mktemp -d) build/jit/tests/quarry_output_digests "$count" "$seed" >build/digests.compiled
cmp build/digests.precompiled build/digests.compiled || die "outputs differ (seed $seed): compare build/digests.*"
say "$(wc -l <build/digests.compiled) outputs are the same, precompiled or compiled when needed (seed $seed)"
