/// No function of the hardware seam is without a probe, and its two implementations declare the same.
#include "tests/kernels/arch/seam.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "support/catch_compat.hpp"
#include "tests/kernels/arch/probe.hpp"

using namespace quarry::test;

namespace {

std::vector<SeamFunction> implementation(const std::string& name) {
  return functions_in(std::string(QUARRY_SOURCE_DIR) + "/kernels/arch/" + name);
}

std::vector<std::string> declarations(const std::string& name) {
  std::vector<std::string> found;
  for (const SeamFunction& function : implementation(name)) found.push_back(function.declaration);
  std::ranges::sort(found);
  return found;
}

/// The probes' sources.
std::string probe_sources() {
  std::ostringstream text;
  const std::string folder = std::string(QUARRY_SOURCE_DIR) + "/tests/kernels/arch/probes";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    text << std::ifstream(entry.path()).rdbuf();
  }
  return text.str();
}

}  // namespace

TEST_CASE("functions of a header are found, whatever they look like") {
  const std::vector<SeamFunction> found = functions_of(R"(
#include "arch/types.hpp"
#define QUARRY_DEVICE inline
/// QUARRY_DEVICE void commented() {}
QUARRY_DEVICE unsigned plain() { return f(1); }
template <class T>
QUARRY_DEVICE T loads(const void* from, const emulator::Site& site = emulator::Site::current()) {
  return g<T>(from);
}
QUARRY_DEVICE float twice(F16 x) { return h(x); }
QUARRY_DEVICE MatrixFragment
twice(const BF16& x,
      int n) {
}
template <class Input>
QUARRY_DEVICE void mma(AccumulatorF32& sum, const emulator::Site& site = emulator::Site::current());
template <>
QUARRY_DEVICE void mma<F16>(AccumulatorF32& sum, const emulator::Site& site) {}
template <>
QUARRY_DEVICE void mma<S8x4, U8x4>(AccumulatorS32& sum) {}
QUARRY_DEVICE int here(const emulator::Site& site = emulator::Site::current()) { return 0; }
)");
  std::vector<std::string> keys, texts;
  for (const SeamFunction& function : found) {
    keys.push_back(function.key);
    texts.push_back(function.declaration);
  }
  CHECK(keys == std::vector<std::string>{"plain", "loads", "twice(F16)", "twice(BF16)", "mma<F16>",
                                         "mma<S8x4, U8x4>", "here"});
  CHECK(texts == std::vector<std::string>{"unsigned plain()", "template <class T> T loads(const void* from)",
                                          "float twice(F16 x)", "MatrixFragment twice(const BF16& x, int n)",
                                          "template <> void mma<F16>(AccumulatorF32& sum)",
                                          "template <> void mma<S8x4, U8x4>(AccumulatorS32& sum)",
                                          "int here()"});
}

TEST_CASE("both implementations of the seam declare the same functions") {
  const std::vector<std::string> hardware = declarations("ptx");
  CHECK(hardware.size() > 40);
  CHECK(declarations("emulated") == hardware);
}

TEST_CASE("every function of the seam is shown by a probe, which calls it") {
  const std::string sources = probe_sources();
  std::set<std::string> covered, existing;
  for (const Probe& probe : probes()) covered.insert(probe.covers.begin(), probe.covers.end());
  for (const SeamFunction& function : implementation("ptx")) {
    existing.insert(function.key);
    INFO(function.declaration);
    CHECK(covered.count(function.key) == 1);
    const std::string call = "arch::" + function.name.substr(0, function.name.find('<'));
    CHECK((sources.find(call + "(") != std::string::npos || sources.find(call + "<") != std::string::npos));
  }
  for (const std::string& key : covered) {
    INFO(key << " is no function of the seam");
    CHECK(existing.count(key) == 1);
  }
}

TEST_CASE("probes have names of their own") {
  std::set<std::string> names;
  for (const Probe& probe : probes()) {
    INFO(probe.name());
    CHECK(names.insert(probe.name()).second);
    CHECK_FALSE(probe.covers.empty());
  }
}
