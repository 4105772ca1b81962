/// Bank conflicts and sectors of a warp's accesses.
#include "emulator/warp_log.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry::emulator;

namespace {

std::vector<LaneAddress> lanes(unsigned bytes, std::uint64_t stride, std::uint64_t first = 0) {
  std::vector<LaneAddress> result;
  for (unsigned lane = 0; lane < 32; ++lane) result.push_back({first + lane * stride, bytes});
  return result;
}

SharedCounters shared(const std::vector<LaneAddress>& addresses,
                      MemoryInstruction instruction = MemoryInstruction::shared_load) {
  Counters counters;
  count(counters, instruction, addresses);
  const bool load = instruction == MemoryInstruction::shared_load;
  const SharedCounters& counted = load ? counters.shared_load : counters.matrix_load;
  CHECK(counted.instructions == 1);
  return counted;
}

GlobalCounters global(const std::vector<LaneAddress>& addresses) {
  Counters counters;
  count(counters, MemoryInstruction::global_load, addresses);
  return counters.global_load;
}

void check(const SharedCounters& counted, std::uint64_t passes, std::uint64_t conflicts) {
  CHECK(counted.passes == passes);
  CHECK(counted.conflicts == conflicts);
}

void check(const GlobalCounters& counted, std::uint64_t sectors, std::uint64_t bytes) {
  CHECK(counted.instructions == 1);
  CHECK(counted.sectors == sectors);
  CHECK(counted.bytes == bytes);
  CHECK(counted.efficiency() == Approx(static_cast<double>(bytes) / (32.0 * static_cast<double>(sectors))));
}

}  // namespace

TEST_CASE("Banks: one word for each lane", "[counters]") {
  check(shared(lanes(4, 4)), 1, 0);
  check(shared(lanes(4, 2 * 4)), 2, 1);
  check(shared(lanes(4, 4 * 4)), 4, 3);
  check(shared(lanes(4, 32 * 4)), 32, 31);
  check(shared(lanes(4, 33 * 4)), 1, 0);
  check(shared(lanes(4, 0)), 1, 0);  // all want the same word
  check(shared(lanes(2, 2)), 1, 0);  // two lanes in a word
  check(shared(lanes(1, 1, 128)), 1, 0);
  check(shared(lanes(2, 64 * 4)), 32, 31);
}

TEST_CASE("Banks: wide accesses are served by parts of a warp", "[counters]") {
  check(shared(lanes(8, 8)), 2, 0);
  check(shared(lanes(8, 16)), 4, 2);
  check(shared(lanes(8, 128)), 32, 30);
  check(shared(lanes(16, 16)), 4, 0);
  check(shared(lanes(16, 32)), 8, 4);
  check(shared(lanes(16, 128)), 32, 28);
  check(shared(lanes(16, 144)), 4, 0);  // a row of 128 bytes and 16 of padding
  check(shared(lanes(16, 0)), 4, 0);
}

TEST_CASE("Banks: lines of matrices", "[counters]") {
  const auto matrix = MemoryInstruction::matrix_load;
  check(shared(lanes(16, 16), matrix), 4, 0);
  check(shared(lanes(16, 64), matrix), 16, 12);   // rows of 32 elements
  check(shared(lanes(16, 128), matrix), 32, 28);  // rows of 64 elements
  std::vector<LaneAddress> swizzled = lanes(16, 128);
  for (unsigned lane = 0; lane < 32; ++lane) swizzled[lane].address ^= lane % 8 * 16;
  check(shared(swizzled, matrix), 4, 0);
}

TEST_CASE("Banks: lanes that do not take part", "[counters]") {
  std::vector<LaneAddress> half = lanes(4, 2 * 4);
  half.resize(16);
  check(shared(half), 1, 0);
  check(shared({{1024, 16}}), 1, 0);
}

TEST_CASE("Banks: random addresses against sets of words", "[counters]") {
  const unsigned seed = quarry::lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    const unsigned bytes = 1U << random() % 5;
    std::vector<LaneAddress> addresses;
    for (unsigned lane = 0; lane < 1 + random() % 32; ++lane) {
      addresses.push_back({random() % (2048 / bytes) * bytes, bytes});
    }
    const std::size_t together = 128 / std::max(bytes, 4U);
    std::uint64_t passes = 0;
    std::uint64_t conflicts = 0;
    for (std::size_t first = 0; first < addresses.size(); first += together) {
      std::map<std::uint64_t, std::set<std::uint64_t>> banks;
      for (std::size_t i = first; i < std::min(first + together, addresses.size()); ++i) {
        for (unsigned byte = 0; byte < bytes; ++byte) {
          const std::uint64_t word = (addresses[i].address + byte) / 4;
          banks[word % 32].insert(word);
        }
      }
      std::size_t most = 0;
      for (const auto& [bank, words] : banks) most = std::max(most, words.size());
      passes += most;
      conflicts += most - 1;
    }
    check(shared(addresses), passes, conflicts);
  }
}

TEST_CASE("Sectors of known patterns", "[counters]") {
  check(global(lanes(4, 4)), 4, 128);
  check(global(lanes(4, 4, 4)), 5, 128);  // begins within a sector
  check(global(lanes(4, 8)), 8, 128);
  check(global(lanes(4, 32)), 32, 128);
  check(global(lanes(4, 1024, 28)), 32, 128);
  check(global(lanes(16, 16)), 16, 512);
  check(global(lanes(16, 16, 16)), 17, 512);
  check(global(lanes(4, 0)), 1, 4);  // one word for all
  check(global(lanes(2, 2)), 2, 64);
  check(global({{30, 4}}), 2, 4);
  CHECK(global(lanes(4, 4)).efficiency() == 1.0);
  CHECK(global(lanes(4, 32)).efficiency() == 0.125);
}

TEST_CASE("Copies of nothing read no sector", "[counters]") {
  Counters counters;
  count(counters, MemoryInstruction::copy_load, lanes(0, 16));
  CHECK(counters.copy_load.instructions == 0);
  CHECK(counters.copy_load.sectors == 0);
  CHECK(counters.copy_load.efficiency() == 1.0);
  std::vector<LaneAddress> some = lanes(0, 16);
  for (unsigned lane = 0; lane < 8; ++lane) some[lane].bytes = 16;
  count(counters, MemoryInstruction::copy_load, some);
  check(counters.copy_load, 4, 128);
}

TEST_CASE("Sectors of random addresses against sets of bytes", "[counters]") {
  const unsigned seed = quarry::lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    std::vector<LaneAddress> addresses;
    std::set<std::uint64_t> bytes;
    std::set<std::uint64_t> sectors;
    for (unsigned lane = 0; lane < 1 + random() % 32; ++lane) {
      const unsigned width = 1U << random() % 5;
      addresses.push_back({(std::uint64_t{1} << 40) + random() % 700, width});
      for (unsigned i = 0; i < width; ++i) {
        bytes.insert(addresses.back().address + i);
        sectors.insert((addresses.back().address + i) / 32);
      }
    }
    check(global(addresses), sectors.size(), bytes.size());
  }
}

TEST_CASE("A warp's accesses become instructions", "[counters]") {
  const Site a = Site::current();
  const Site b = Site::current();
  WarpLog log;
  Counters counters;
  SECTION("all lanes do the same, one after another") {
    for (unsigned lane = 0; lane < 32; ++lane) {
      log.add(lane, MemoryInstruction::shared_store, a, 1152 + 4 * lane, 4);
      log.add(lane, MemoryInstruction::shared_load, b, 1152 + 8 * lane, 4);
      log.add(lane, MemoryInstruction::shared_load, b, 1152 + 4 * lane, 4);
    }
    log.flush(counters);
    check(counters.shared_store, 1, 0);
    check(counters.shared_load, 3, 1);
    CHECK(counters.shared_store.instructions == 1);
    CHECK(counters.shared_load.instructions == 2);
  }
  SECTION("lanes that take part and lanes that do not") {
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (lane % 2 == 0) log.add(lane, MemoryInstruction::global_store, a, 4 * lane, 4);
      if (lane < 8) log.add(lane, MemoryInstruction::global_store, b, 4096 + 4 * lane, 4);
    }
    log.flush(counters);
    CHECK(counters.global_store.instructions == 2);
    CHECK(counters.global_store.sectors == 5);
    CHECK(counters.global_store.bytes == 64 + 32);
  }
  SECTION("two ways through a branch are two instructions") {
    for (unsigned lane = 0; lane < 32; ++lane) {
      log.add(lane, MemoryInstruction::global_load, lane < 16 ? a : b, 4 * lane, 4);
    }
    log.flush(counters);
    CHECK(counters.global_load.instructions == 2);
    CHECK(counters.global_load.sectors == 4);
  }
  SECTION("lanes that leave a loop earlier") {
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned turn = 0; turn <= lane / 8; ++turn) {
        log.add(lane, MemoryInstruction::copy_store, a, 512 * turn + 16 * lane, 16);
      }
    }
    log.flush(counters);
    CHECK(counters.copy_store.instructions == 4);
    check(counters.copy_store, 4 + 3 + 2 + 1, 0);
  }
  SECTION("what was counted is forgotten, and what is cleared") {
    log.add(0, MemoryInstruction::global_load, a, 0, 4);
    log.flush(counters);
    log.flush(counters);
    CHECK(counters.global_load.instructions == 1);
    log.add(0, MemoryInstruction::global_load, a, 0, 4);
    log.clear();
    log.flush(counters);
    CHECK(counters.global_load.instructions == 1);
  }
}
