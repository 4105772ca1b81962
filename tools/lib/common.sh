# Small things that every script here uses. Sourced, with `root` set to the top of the source tree.

# A headline, to standard error: what is being done.
say() { printf '\n== %s\n' "$*" >&2; }

# One clear line (or a few), then out.
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Prints a command as a person would type it, then runs it.
shown() {
  local text
  text=$(printf ' %q' "$@")
  printf '\n$%s\n' "${text//$root\//}" >&2
  "$@"
}

# configure PRESET FOLDER [CMAKE OPTION...]: configures a preset into FOLDER with the CUDA compiler that set-up found. A folder
# that was configured with another one starts afresh; otherwise its choice stays, so that nothing is compiled again.
configure() {
  local preset=$1 folder=$2 nvcc=$CUDAToolkit_ROOT/bin/nvcc known compiler=()
  shift 2
  known=$(sed -n 's/^QUARRY_NVCC:[A-Z]*=//p' "$folder/CMakeCache.txt" 2>/dev/null || true)
  if [[ -z $known ]]; then
    compiler=("-DQUARRY_NVCC:FILEPATH=$nvcc")
  elif [[ $(readlink -f "$known") != $(readlink -f "$nvcc") ]]; then
    compiler=(--fresh "-DQUARRY_NVCC:FILEPATH=$nvcc")
  fi
  shown cmake --preset "$preset" -S "$root" -B "$folder" "${compiler[@]}" "$@"
}

# Seconds since the script began, for a closing line.
elapsed() { printf '%d min %02d s' $((SECONDS / 60)) $((SECONDS % 60)); }
