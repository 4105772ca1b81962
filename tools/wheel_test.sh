#!/usr/bin/env bash
# Builds the wheel of the Python package twice, from clones in two folders, with the CUDA compiler from PyPI. Both files must be the
# same to the byte, small, and good without any other package. Two builds take 13 minutes of one core.
#
# Usage: tools/wheel_test.sh [COMMIT]   (what is committed, by default HEAD)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/tools/lib/common.sh"
source "$root/tools/lib/packages.sh"
source "$root/tools/lib/python.sh"
ensure_python_packages || die "the wheel needs ${python_packages[*]}"
commit=${1:-HEAD}
most_bytes=12000000
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A compiler cache would give the second build what the first one compiled.
unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH QUARRY_HIDE_TOOLKIT=1

# wheel NUMBER FOLDER: prints the file that is built from a clone in the folder.
wheel() {
  local number=$1 folder=$scratch/$2
  git clone --quiet "$root" "$folder"
  git -C "$folder" checkout --quiet "$(git -C "$root" rev-parse "$commit")"
  say "wheel $number"
  TIMEFORMAT='%0R s, %0U s of the processors'
  time shown "$python_folder/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$scratch/wheels-$number" "$folder" >&2 ||
    die "wheel $number was not built"
  rm -rf "$folder"
  echo "$scratch/wheels-$number"/quarry-*.whl
}

first=$(wheel 1 sources)
second=$(wheel 2 a-longer/path/of/sources)
if ! cmp "$first" "$second"; then
  for file in "$first" "$second"; do python3 -m zipfile -l "$file"; done
  die "two builds of one commit differ"
fi
bytes=$(stat -c %s "$first")
((bytes <= most_bytes)) || die "the wheel has $bytes bytes, more than $most_bytes"
if [[ $first == *-abi3-* ]]; then
  python3 -m zipfile -l "$first" | grep -q '_quarry\.abi3\.so' || die "the wheel says that it is of the stable ABI, and its module is not"
fi

python3 -m venv --without-pip "$scratch/bare"
python3 -m zipfile -e "$first" "$(echo "$scratch"/bare/lib/python*/site-packages)"
cd "$scratch"
kernels=$("$scratch/bare/bin/python" -c 'import quarry; print(len(quarry.get_kernels()))')
say "the same $bytes bytes twice, $kernels kernels, in $(elapsed)"
