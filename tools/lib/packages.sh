# The compiler, the build tools and the three header libraries: each is looked for by using it, so a machine that has it from
# elsewhere than Debian's packages needs nothing, not even a network. Sourced after common.sh.

# Whether the compiler finds any of these headers, in its own folders or in those of CMAKE_PREFIX_PATH.
has_header() {
  local prefix header condition=0 folders=()
  IFS=: read -ra prefixes <<<"${CMAKE_PREFIX_PATH:-}"
  for prefix in "${prefixes[@]}"; do folders+=("-I$prefix/include"); done
  for header in "$@"; do condition+=" || __has_include(<$header>)"; done
  printf '#if !(%s)\n#error missing\n#endif\n' "$condition" |
    "${CXX:-g++}" "${folders[@]}" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null
}

# Whether the compiler knows C++20 as it is used here: lambdas and structs as template arguments, and <span>.
has_compiler() {
  printf '#include <span>\nstruct S { int i; };\ntemplate <S s> struct T { int j = s.i; };\nT<S{1}> t;\n' |
    "${CXX:-g++}" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null
}

# Whether `cmake` is 3.25 or later (presets of version 6, --fresh).
has_cmake() {
  local version
  version=$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*//p')
  [[ -n $version && $(printf '3.25\n%s\n' "$version" | sort -V | head -n 1) == 3.25 ]]
}

# The names of the Debian packages that are needed and missing, one a line.
missing_packages() {
  has_compiler || echo g++
  has_cmake || echo cmake
  command -v ninja >/dev/null || echo ninja-build
  command -v python3 >/dev/null || echo python3
  # The header probes need the compiler: without one, ask for the packages, which apt-get leaves alone when they are there.
  has_header catch2/catch_all.hpp catch2/catch.hpp || echo catch2
  has_header CLI/CLI.hpp || echo libcli11-dev
  has_header nlohmann/json.hpp || echo nlohmann-json3-dev
}

# Runs apt-get as root, or through sudo; fails when neither is possible.
apt_get() {
  if [[ $(id -u) == 0 ]]; then
    DEBIAN_FRONTEND=noninteractive apt-get "$@"
  elif command -v sudo >/dev/null; then
    local ask=()
    [[ -t 0 ]] || ask=(-n)  # nobody there to type a password
    sudo "${ask[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "$@"
  else
    return 1
  fi
}

# install_packages NAME...: installs Debian packages, and says what to do where that cannot be.
install_packages() {
  local hint="missing: $*
Install these by hand (names as on Debian 12 and Ubuntu 24.04) and run this again"
  command -v apt-get >/dev/null || die "$hint. There is no apt-get here."
  say "installing $*"
  { apt_get update -qq && apt_get install -y -qq --no-install-recommends "$@"; } >&2 ||
    die "$hint. apt-get failed: it needs root or sudo, and a network."
}

# Installs one package of those that are not needed; where that cannot be, says what that means.
install_optional() {
  say "installing $1"
  apt_get update -qq >&2 && apt_get install -y -qq --no-install-recommends "$1" >&2 || say "no $1: $2"
}

# Installs what is good to have: Boost.Context for the emulator's fibers, and a browser for the test of the explorer's page.
ensure_optional_packages() {
  has_header boost/context/detail/fcontext.hpp ||
    install_optional libboost-context-dev "the emulator switches fibers by system calls"
  command -v chromium chromium-browser google-chrome >/dev/null ||
    install_optional chromium "the explorer's page is not tested in a browser"
}

# Whether clang++ links a program with libFuzzer and the sanitizers.
has_fuzzer() {
  local program status=0
  program=$(mktemp)
  echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
    clang++ -fsanitize=fuzzer,address,undefined -x c++ - -o "$program" 2>/dev/null || status=1
  rm -f "$program"
  return $status
}

# Installs what fuzzing needs and nothing else does: clang with libFuzzer. Fails where that cannot be.
ensure_fuzzer() {
  has_fuzzer && return
  command -v apt-get >/dev/null || return 1
  say "installing clang"
  { apt_get update -qq && apt_get install -y -qq --no-install-recommends clang libclang-rt-dev; } >&2 || return 1
  has_fuzzer
}

# Installs what is missing of compiler, tools and libraries; does nothing when all of it is there.
ensure_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]} == 0)); then return; fi
  install_packages "${missing[@]}"
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]} == 0)) || die "installed, but still not usable (too old?): ${missing[*]}"
}
