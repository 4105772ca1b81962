/// The emulator gives what the GPU gave, in every order of threads and of copies.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"
#include "tests/kernels/arch/emulated_side.hpp"
#include "tests/kernels/arch/results.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

Table recorded() {
  const std::string path = std::string(QUARRY_SOURCE_DIR) + "/tests/kernels/arch/recorded.txt";
  std::ifstream file(path);
  INFO(path << ": made on a machine with a GPU, by quarry_arch_gpu --record");
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  std::string fault;
  Table table = table_of(text.str(), fault);
  REQUIRE(fault == "");
  REQUIRE(table.heading.find(made_by_emulator) == std::string::npos);
  return table;
}

/// The result of a probe that must run without a fault.
Words emulated(const Probe& probe, const Words& inputs, std::uint32_t fill,
               const emulator::Options& options = {}) {
  const SideResult result = run_emulated(probe, inputs, fill, options);
  REQUIRE(result.fault == "");
  return result.words;
}

}  // namespace

TEST_CASE("the emulator gives what the GPU gave") {
  const Table table = recorded();
  for (const Probe& probe : probes()) {
    DYNAMIC_SECTION(probe.name()) {
      const Words inputs = inputs_of(probe, recorded_seed);
      const Words result = emulated(probe, inputs, 0);
      if (table.results.count(probe.name()) == 0) {
        WARN("no result of a GPU is recorded of " << probe.name());
      } else {
        CHECK(check(probe, inputs, result, table) == "");
      }
    }
  }
}

TEST_CASE("nothing is recorded that is not asked for") {
  const Table table = recorded();
  for (const auto& [name, result] : table.results) {
    INFO(name);
    CHECK(std::ranges::count(probes(), name, &Probe::name) == 1);
  }
}

TEST_CASE("a probe's result is the same in every order, and written to the last word") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  for (const Probe& probe : probes()) {
    DYNAMIC_SECTION(probe.name()) {
      const Words inputs = inputs_of(probe, seed);
      const Words expected = emulated(probe, inputs, 0, {.seed = seed, .copies = emulator::CopyTiming::late});
      // Words that nobody writes differ by what they held before.
      const Words early =
          emulated(probe, inputs, ~0U, {.seed = seed + 1, .copies = emulator::CopyTiming::early});
      const Words mixed =
          emulated(probe, inputs, 0, {.seed = seed + 2, .copies = emulator::CopyTiming::mixed});
      CHECK(difference({}, expected, early).text == "");
      CHECK(difference({}, expected, mixed).text == "");
    }
  }
}

TEST_CASE("a result of the emulator, kept and read again, is that of the next run") {
  Table table = {made_by_emulator, {}};
  for (const Probe& probe : probes()) {
    const Words inputs = inputs_of(probe, recorded_seed);
    table.results.emplace(probe.name(), record(probe, inputs, emulated(probe, inputs, 0)));
  }
  std::string fault;
  const std::string text = to_text(table);
  const Table read = table_of(text, fault);
  REQUIRE(fault == "");
  CHECK(text.size() < 420'000);  // a file that is kept with the sources
  for (const Probe& probe : probes()) {
    INFO(probe.name());
    const Words inputs = inputs_of(probe, recorded_seed);
    Words words = emulated(probe, inputs, ~0U, {.seed = 1});
    CHECK(check(probe, inputs, words, read) == "");
    words[words.size() / 2] ^= 0x40404040;
    CHECK(check(probe, inputs, words, read) != "");
  }
}
