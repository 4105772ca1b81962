#!/usr/bin/env bash
# Sets the machine up, builds the `quarry` command (`dev` preset) and answers a real problem with it: which kernels can do it,
# which is best and why, and does it compute what it should. Without a GPU, kernels run on the host executor.
#
# Usage: tools/demo.sh [FOLDER]          builds into the folder (build/demo)
#        tools/demo.sh --with QUARRY     uses this command and builds nothing
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ ${1:-} == --with ]]; then
  quarry=$(realpath "${2:?--with takes the path of a quarry command}")
  source "$root/tools/lib/common.sh"
  cd "$root"
else
  source "$root/tools/setup.sh"
  cd "$root"
  folder=${1:-build/demo}
  quarry=$folder/quarry
  say "build"
  # What runs on a device is compiled when it is needed; the demo asks for no debugger.
  configure dev "$folder" -DQUARRY_EMULATOR=OFF -DQUARRY_AOT=false -DQUARRY_BUILD_TESTS=OFF -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1
  shown cmake --build "$folder" --target quarry_cli
fi

say "1. What is here?"
shown "$quarry" doctor
shown "$quarry" stats

say "2. The attention output projection of an 8B decoder, 512 tokens of a padded buffer. Which kernels can do it, and why not all?"
problem=(gemm 512x4096x4096 --a bf16:row:ld=4100 --b bf16:col --out bf16:row --bias column --activation silu)
shown "$quarry" find "${problem[@]}" --explain --limit 8

say "3. The best one"
best=$("$quarry" find "${problem[@]}" --limit 1 --format names 2>/dev/null)
shown "$quarry" show "$best"

say "4. Run the best (where there is a GPU: the best that is precompiled), against float64"
shown "$quarry" run "${problem[@]}"

say "5. Odd sizes, a column-major output, K in slices"
shown "$quarry" run gemm 333x77x1291 --a f16:col --b f16:row --out f32:col --mode split_k_parallel --split-k 3

say "6. A few kernels, each verified on random problems"
printf '\n$ %s find gemm 256x256x256 f16 --limit 5 --format names | %s verify -\n' "$quarry" "$quarry" >&2
"$quarry" find gemm 256x256x256 f16 --limit 5 --format names | "$quarry" verify -

say "done in $(elapsed): try $quarry --help"
