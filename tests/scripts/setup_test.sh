#!/usr/bin/env bash
# Tests tools/setup.sh where things are missing: it must say what, and leave nothing half done. Installs nothing: it runs on a copy of
# the scripts, with a PATH that holds links to chosen programs and stand-ins for those that would install. Usage: setup_test.sh NVCC
set -euo pipefail
source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
hidden=1 toolkit=

# fresh_machine NAME...: $scratch/bin holds these programs and the basic ones; $scratch/tree a copy of the scripts.
fresh_machine() {
  local name
  rm -rf "${scratch:?}/bin" "$scratch/tree"
  mkdir -p "$scratch/bin" "$scratch/tree"
  cp -r "$source_root/tools" "$scratch/tree/tools"
  for name in bash sed sort head dirname id cat mktemp rm readlink uname grep env "$@"; do
    ln -s "$(command -v "$name")" "$scratch/bin/$name"
  done
}

# stand_in NAME: a program of this name whose text comes from standard input.
stand_in() {
  rm -f "$scratch/bin/$1"
  { echo '#!/usr/bin/env bash'; cat; } >"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}

# expect CASE TEXT: set-up must fail and print the text. With STATUS=0 before it, succeed.
expect() {
  local status=0 output
  output=$(env -i ${toolkit:+"CUDAToolkit_ROOT=$toolkit"} HOME="$scratch" TMPDIR="$scratch" PATH="$scratch/bin" CPATH="${CPATH:-}" QUARRY_HIDE_TOOLKIT="$hidden" \
    CMAKE_PREFIX_PATH="${CMAKE_PREFIX_PATH:-}" bash "$scratch/tree/tools/setup.sh" 2>&1) || status=$?
  if [[ $status == "${STATUS:-1}" && $output == *"$2"* ]]; then
    echo "ok: $1"
  else
    printf 'FAILED: %s\n  expected: %s\n  exit status %s, printed: %s\n' "$1" "$2" "$status" "$output"
    failures=$((failures + 1))
  fi
}

fresh_machine g++ as ld cmake python3
expect "no ninja and no apt-get" "missing: ninja-build"
expect "no ninja and no apt-get" "There is no apt-get here"

fresh_machine g++ as ld cmake python3
stand_in apt-get <<<'exit 0'
stand_in id <<<'echo 1000'
expect "apt-get, but neither root nor sudo" "it needs root or sudo"

fresh_machine g++ as ld cmake python3
stand_in apt-get <<<'exit 100'
stand_in id <<<'echo 0'
expect "apt-get fails" "apt-get failed"

fresh_machine g++ as ld cmake python3
stand_in apt-get <<<'exit 0'
stand_in id <<<'echo 0'
expect "apt-get installs nothing that helps" "installed, but still not usable (too old?): ninja-build"

fresh_machine g++ as ld ninja python3
stand_in cmake <<<'echo cmake version 3.22.1'
expect "cmake is too old" "missing: cmake"

fresh_machine g++ as ld cmake ninja
stand_in python3 <<<'[[ $1 == -c ]]'  # has venv, cannot make one
expect "no toolkit and no Python environment" "no CUDA compiler"

fresh_machine g++ as ld cmake ninja
stand_in python3 <<'END'
[[ $1 == -c ]] && exit
mkdir -p "$3/bin"
printf '#!/usr/bin/env bash\necho "no network" >&2; exit 1\n' >"$3/bin/python"
"$(command -v chmod || echo /bin/chmod)" +x "$3/bin/python"
END
ln -s "$(command -v mkdir)" "$(command -v chmod)" "$scratch/bin/"
expect "no toolkit and no network" "could not be had from PyPI either"

fresh_machine g++ gcc as ld cmake ninja python3 sh
stand_in apt-get <<<'exit 100'
hidden="" toolkit=$(dirname "$(dirname "$(readlink -f "$1")")")
STATUS=0 expect "all there, and nothing can be installed" "ready: "

((failures == 0)) && echo "set-up says what is missing"
exit $((failures > 0))
