#!/usr/bin/env bash
# Makes the machine ready to build Quarry: installs what is missing (Debian packages, a CUDA compiler) and nothing that is there.
# Run it, or source it: then CUDAToolkit_ROOT names the CUDA compiler's folder. QUARRY_HIDE_TOOLKIT=1 ignores an installed toolkit.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

source "$root/tools/lib/common.sh"
source "$root/tools/lib/packages.sh"
source "$root/tools/lib/cuda.sh"
source "$root/tools/lib/python.sh"

ensure_packages
ensure_cuda
printf 'ready: %s, cmake %s, %s in %s\n' \
  "$("${CXX:-g++}" --version | head -n 1)" "$(cmake --version | sed -n '1s/[^0-9]*//p')" \
  "$("$CUDAToolkit_ROOT/bin/nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/nvcc \1/p')" "$CUDAToolkit_ROOT" >&2
