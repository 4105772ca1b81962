/// What the seed decides, what it does not, and what can be switched off.
#include <algorithm>
#include <set>

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using emulator::CopyTiming;
using test::Operands;
using test::run_once;
using test::Setup;

namespace {

/// Each thread draws a ticket: the order in which they come.
void tickets(const Operands& o) {
  const int mine = static_cast<int>(arch::block_index()) * 32 + arch::thread_index();
  arch::global_store(o.out + mine, arch::fetch_add(o.counters, 1));
}

/// Any two threads of the block are at fault, in any of several ways.
void all_wrong(const Operands& o) {
  const int t = arch::thread_index();
  const int b = static_cast<int>(arch::block_index());
  arch::shared_store(arch::shared_memory() + 4 * ((t * 7 + b) % 50), t);
  arch::shared_load<int>(arch::shared_memory() + 4 * (t % 32));
  arch::global_store(o.out + t % 5, t);
}

/// Reads a copy too early. Without checks, what it reads tells when the copy landed; what stood there before
/// is gone in any case.
void read_early(const Operands& o) {
  const int t = arch::thread_index();
  const arch::SharedAddress at = arch::shared_memory() + 4 * t;
  arch::shared_store(at, 5);
  arch::copy_async<4>(at, o.in + t, 4);
  arch::copy_async_commit();
  const int x = arch::shared_load<int>(at);
  arch::copy_async_wait<0>();
  arch::global_store(o.out + t, x);
}

/// Threads of different warps that write one byte, then read what they never wrote.
void race(const Operands& o) {
  const int t = arch::thread_index();
  arch::shared_store(arch::shared_memory(), t);
  arch::global_store(o.out, t);
}
void unwritten(const Operands& o) {
  arch::shared_load<int>(arch::shared_memory());
  if (arch::thread_index() == 0) arch::global_store(o.out, arch::shared_load<int>(arch::shared_memory() + 4));
  if (arch::thread_index() == 0) arch::global_load<int>(o.out + 1);
}

/// Says that eight bytes may be read before they are written. The same of others is a fault still.
void allowed(const Operands& o) {
  const arch::SharedAddress memory = arch::shared_memory();
  arch::read_unwritten(memory, 8);
  const bool reads_more = o.argument != 0;
  arch::global_store(o.out, arch::shared_load<int>(memory + (reads_more ? 8 : 4)));
}

const Setup off = {.checks = {.races = false, .unwritten = false}};

std::vector<int> first_64(const test::Trial& trial) { return {trial.out.begin(), trial.out.begin() + 64}; }

}  // namespace

TEST_CASE("Seeds decide the order of threads and blocks", "[seed]") {
  const Setup setup = {.grid = 8, .threads = 32, .blocks_wait = true};
  std::set<std::vector<int>> orders;
  std::set<std::vector<int>> within_block;
  std::set<int> first_blocks;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const test::Trial trial = run_once(tickets, setup, seed);
    REQUIRE(trial.outcome.fault == "");
    REQUIRE(run_once(tickets, setup, seed).out == trial.out);
    std::vector<int> drawn(trial.out.begin(), trial.out.begin() + 256);
    first_blocks.insert(static_cast<int>(std::min_element(drawn.begin(), drawn.end()) - drawn.begin()) / 32);
    within_block.insert({drawn.begin(), drawn.begin() + 32});
    orders.insert(drawn);
    std::sort(drawn.begin(), drawn.end());
    for (int i = 0; i < 256; ++i) REQUIRE(drawn[static_cast<std::size_t>(i)] == i);
  }
  CHECK(orders.size() == 20);
  CHECK(within_block.size() > 10);
  CHECK(first_blocks.size() > 3);
}

TEST_CASE("Seeds decide the order of warps", "[seed]") {
  std::set<std::vector<int>> orders;
  const auto kernel = [](const Operands& o) {
    if (arch::lane_index() == 0)
      arch::global_store(o.out + arch::thread_index() / 32, arch::fetch_add(o.counters, 1));
  };
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const test::Trial trial = run_once(kernel, {.threads = 128, .blocks_wait = true}, seed);
    REQUIRE(trial.outcome.fault == "");
    orders.insert({trial.out.begin(), trial.out.begin() + 4});
  }
  CHECK(orders.size() > 8);
}

TEST_CASE("The same seed replays a fault exactly", "[seed]") {
  const std::uint64_t first = lab::fresh_seed();
  std::set<std::string> faults;
  for (const bool wait : {false, true}) {
    for (std::uint64_t seed = first; seed < first + 20; ++seed) {
      INFO("seed " << seed);
      const Setup setup = {.grid = 5, .blocks_wait = wait};
      const std::string fault = run_once(all_wrong, setup, seed).outcome.fault;
      CHECK(fault != "");
      CHECK(run_once(all_wrong, setup, seed).outcome.fault == fault);
      faults.insert(fault);
    }
  }
  CHECK(faults.size() > 20);
}

TEST_CASE("Threads of the host do not change what a block is found out for", "[seed]") {
  const auto kernel = [](const Operands& o) {
    const int b = static_cast<int>(arch::block_index());
    arch::global_store(o.out + 64 * b + arch::thread_index(), b);
    for (int i = 0; i < 300 + b * 29 % 37 * 10; ++i) arch::block_barrier();
    if (b % 3 != 1) arch::shared_load<int>(arch::shared_memory() + 4 * arch::thread_index());
  };
  const std::uint64_t first = lab::fresh_seed();
  for (std::uint64_t seed = first; seed < first + 20; ++seed) {
    INFO("seed " << seed);
    const std::string alone = run_once(kernel, {.grid = 16, .host_threads = 1}, seed).outcome.fault;
    CHECK(alone != "");
    CHECK(run_once(kernel, {.grid = 16, .host_threads = 4}, seed).outcome.fault == alone);
  }
}

TEST_CASE("Copies land early, late or as the seed says", "[seed][copies]") {
  std::vector<int> landed;
  for (int i = 0; i < 64; ++i) landed.push_back(test::input(i));
  const std::vector<int> poison(64, -1);
  CHECK(first_64(run_once(read_early, off, 1, CopyTiming::early)) == landed);
  CHECK(first_64(run_once(read_early, off, 1, CopyTiming::late)) == poison);

  std::set<std::vector<int>> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const std::vector<int> mixed = first_64(run_once(read_early, off, seed, CopyTiming::mixed));
    CHECK(first_64(run_once(read_early, off, seed, CopyTiming::mixed)) == mixed);
    for (std::size_t i = 0; i < 64; ++i) CHECK((mixed[i] == -1 || mixed[i] == landed[i]));
    CHECK(std::count(mixed.begin(), mixed.end(), -1) > 0);
    CHECK(std::count(mixed.begin(), mixed.end(), -1) < 64);
    seen.insert(mixed);
  }
  CHECK(seen.size() == 10);
}

TEST_CASE("A copy that is read early is caught whenever it lands", "[copies]") {
  for (const CopyTiming timing : {CopyTiming::late, CopyTiming::early, CopyTiming::mixed}) {
    CHECK_THAT(run_once(read_early, {}, 1, timing).outcome.fault, Catch::Contains("race:"));
  }
}

TEST_CASE("What may be read before it is written is poison, and may be written", "[checks]") {
  const test::Trial ran = run_once(allowed, {.threads = 1});
  CHECK(ran.outcome.fault == "");
  CHECK(ran.out[0] == -1);
  CHECK_THAT(run_once(allowed, {.threads = 1, .argument = 1}).outcome.fault,
             Catch::Contains("reads byte 8 of shared memory, which was never written"));
}

TEST_CASE("Checks can be switched off one by one", "[checks]") {
  const Setup no_races = {.checks = {.races = false}};
  const Setup no_unwritten = {.checks = {.unwritten = false}};
  CHECK_THAT(run_once(race, {}).outcome.fault, Catch::Contains("race:"));
  CHECK_THAT(run_once(race, no_unwritten).outcome.fault, Catch::Contains("race:"));
  CHECK(run_once(race, no_races).outcome.fault == "");
  CHECK_THAT(run_once(unwritten, {}).outcome.fault, Catch::Contains("which was never written"));
  CHECK_THAT(run_once(unwritten, no_races).outcome.fault, Catch::Contains("which was never written"));
  CHECK(run_once(unwritten, no_unwritten).outcome.fault == "");
  // What was never written is poison all the same.
  CHECK(run_once(unwritten, no_unwritten).out[0] == -1);
  CHECK(run_once(race, off).outcome.fault == "");
  CHECK(run_once(unwritten, off).outcome.fault == "");
}
