/// Launches: which a device would refuse, what one counts, and on how many threads of the host it runs.
#include "emulator/launch.hpp"

#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using emulator::Counters;
using emulator::Launch;
using test::fine;
using test::Operands;
using test::Setup;

namespace {

const emulator::Entry small_entry = {[](const void*) {}, 128};
const emulator::Entry large_entry = {[](const void*) {}, 1024};
constexpr unsigned limit = 232448;

std::string fault(unsigned grid, unsigned threads, unsigned shared_memory = 0,
                  const emulator::Entry& entry = large_entry) {
  return fault_of(Launch{&entry, nullptr, grid, threads, shared_memory, false}, limit);
}

/// What the runtime of CUDA 13.0 answered to each of these launches on an H200.
const std::string refused = "invalid argument (cudaErrorInvalidValue)";

}  // namespace

TEST_CASE("Launches that a device takes", "[launch]") {
  CHECK(fault(1, 1) == "");
  CHECK(fault(0x7fffffff, 1024, limit) == "");
  CHECK(fault(3, 128, 0, small_entry) == "");
}

TEST_CASE("Launches that a device refuses", "[launch]") {
  CHECK(fault(0, 32) == refused);
  CHECK(fault(0x80000000, 32) == refused);
  CHECK(fault(0xffffffff, 32) == refused);
  CHECK(fault(1, 0) == refused);
  CHECK(fault(1, 1025) == refused);
  CHECK(fault(1, 0xffffffff) == refused);
  CHECK(fault(1, 32, limit + 1) == refused);
  CHECK(fault(1, 32, 0xffffffff) == refused);
  CHECK(fault(1, 129, 0, small_entry) == refused);
  CHECK(fault(1, 1024, 0, small_entry) == refused);
}

namespace {

/// Something of each kind, by a block of two warps: what it counts is written beside it, for a block.
void some_of_each(const Operands& o) {
  const int t = arch::thread_index();
  const int lane = arch::lane_index();
  const int warp = arch::warp_index();
  const arch::SharedAddress shared = arch::shared_memory();
  const arch::SharedAddress mine = shared + 1024 * warp;
  using Four = arch::Vector<int, 4>;

  const Four four = arch::global_load<Four>(o.in + 4 * t);  // 2 instructions, 32 sectors, 1024 bytes
  arch::shared_store(mine + 16 * lane, four);               // 2 instructions, 8 passes
  arch::copy_async<8>(mine + 512 + 8 * lane, o.in + 256 + 2 * t, lane < 16 ? 8 : 4);
  arch::copy_async_commit();  // 2 + 2 instructions, 4 passes, 512 bytes of shared memory; 256 + 128 of
                              // global, 16 sectors
  arch::copy_async_wait<0>();
  arch::block_barrier();                                 // 1
  int sum = arch::shared_load<int>(shared + 8 * t);      // 2 instructions, 4 passes, 2 conflicts
  sum += arch::shared_load<int>(mine + 512 + 4 * lane);  // 2 instructions, 2 passes
  const arch::MatrixFragment a =
      arch::load_matrix_x4(mine + 16 * (lane % 8 * 4 + lane / 8));  // 2, 32 passes, 24
  arch::AccumulatorF32 sums = {};
  arch::mma<arch::F16>(sums, a, {a.v[0], a.v[1]});                                                // 2
  arch::mma<arch::BF16>(sums, a, {a.v[2], a.v[3]});                                               // 2
  arch::warp_barrier();                                                                           // 2
  arch::named_barrier(1, 64);                                                                     // 1
  if (lane < 8) arch::global_store(o.out + 64 * static_cast<int>(arch::block_index()) + t, sum);  // 2, 2, 64
}

void check(const emulator::SharedCounters& counted, std::uint64_t instructions, std::uint64_t passes,
           std::uint64_t conflicts) {
  CHECK(counted.instructions == instructions);
  CHECK(counted.passes == passes);
  CHECK(counted.conflicts == conflicts);
}
void check(const emulator::GlobalCounters& counted, std::uint64_t instructions, std::uint64_t sectors,
           std::uint64_t bytes) {
  CHECK(counted.instructions == instructions);
  CHECK(counted.sectors == sectors);
  CHECK(counted.bytes == bytes);
}

/// What some_of_each counts on a grid of `n` blocks.
void check_some_of_each(const Counters& counters, std::uint64_t n) {
  check(counters.global_load, 2 * n, 32 * n, 1024 * n);
  check(counters.global_store, 2 * n, 2 * n, 64 * n);
  check(counters.copy_load, 2 * n, 16 * n, 384 * n);
  check(counters.copy_store, 2 * n, 4 * n, 0);
  check(counters.shared_store, 2 * n, 8 * n, 0);
  check(counters.shared_load, 4 * n, 6 * n, 2 * n);
  check(counters.matrix_load, 2 * n, 32 * n, 24 * n);
  CHECK(counters.matrix_multiplies == 4 * n);
  CHECK(counters.block_barriers == n);
  CHECK(counters.warp_barriers == 2 * n);
  CHECK(counters.named_barriers == n);
  CHECK(counters.atomics == 0);
  CHECK(counters.bytes_copied == 384 * n);
}

void count_atomics(const Operands& o) {
  if (arch::thread_index() == 0) arch::fetch_add(o.counters, 1);
  if (arch::thread_index() == 0) arch::store_release(o.counters + 1 + arch::block_index(), 1);
  if (arch::thread_index() == 40) arch::load_acquire(o.counters + 1);
}

}  // namespace

TEST_CASE("Counters of a small kernel", "[launch][counters]") {
  for (const unsigned grid : {1U, 5U}) {
    for (const bool wait : {false, true}) {
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        INFO("grid " << grid << ", wait " << wait << ", seed " << seed);
        const Setup setup = {.grid = grid, .shared_memory = 2048, .blocks_wait = wait};
        const test::Trial trial = run_once(some_of_each, setup, seed);
        REQUIRE(trial.outcome.fault == "");
        check_some_of_each(trial.outcome.counters, grid);
      }
    }
  }
  const test::Trial trial = run_once(count_atomics, {.grid = 3, .blocks_wait = true});
  CHECK(trial.outcome.fault == "");
  CHECK(trial.outcome.counters.atomics == 9);
}

TEST_CASE("One thread of the host and several", "[launch]") {
  const Setup alone = {.grid = 13, .shared_memory = 2048, .host_threads = 1};
  const test::Trial expected = run_once(some_of_each, alone, 3);
  REQUIRE(expected.outcome.fault == "");
  for (const int host_threads : {0, 2, 3, 50}) {
    INFO(host_threads << " threads");
    Setup setup = alone;
    setup.host_threads = host_threads;
    const test::Trial trial = run_once(some_of_each, setup, 3);
    CHECK(trial.outcome.fault == "");
    CHECK(trial.out == expected.out);
    check_some_of_each(trial.outcome.counters, 13);
  }
}

TEST_CASE("Blocks of any size", "[launch]") {
  const auto kernel = [](const Operands& o) {
    const int t = arch::thread_index();
    arch::shared_store(arch::shared_memory() + 4 * t, t);
    arch::block_barrier();
    if (t == 0) arch::global_store(o.out, arch::shared_load<int>(arch::shared_memory() + o.argument));
  };
  for (const unsigned threads : {1U, 2U, 31U, 32U, 33U, 100U, 1024U}) {
    const int last = static_cast<int>(threads) - 1;
    fine(kernel, {.threads = threads, .shared_memory = 4 * threads, .argument = 4 * last}, {last});
  }
}

TEST_CASE("A block may end before others begin", "[launch]") {
  const auto kernel = [](const Operands& o) {
    const auto b = static_cast<int>(arch::block_index());
    arch::global_store(o.out + b, arch::grid_blocks() == 1000 ? b : -1);
  };
  std::vector<int> expected;
  for (int b = 0; b < 1000; ++b) expected.push_back(b);
  for (const bool wait : {false, true}) {
    fine(kernel, {.grid = 1000, .threads = 1, .shared_memory = 0, .blocks_wait = wait}, expected);
  }
}
