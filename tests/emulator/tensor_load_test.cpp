/// Bulk loads of boxes: what they bring, and kernels that use it too early, too late or not at all.
#include <set>

#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::map_of;
using test::mark;
using test::Operands;

namespace {

constexpr int barriers = 4096;

arch::SharedAddress barrier(int i) { return arch::shared_memory() + (barriers + 8 * i); }

/// Makes barriers, each of so many arrivals.
void make(int count, int arrivals) {
  if (arch::thread_index() == 0) {
    for (int i = 0; i < count; ++i) arch::mbarrier_init(barrier(i), arrivals);
    arch::mbarrier_init_fence();
  }
  arch::block_barrier();
}

/// The operand as 32 x 16 x 2 numbers, in boxes of 8 x 4 x 2 (or lines of another length): where one begins,
/// and how it lies in shared memory.
struct Case {
  int x, y, z;
  unsigned line;
  TensorSwizzle swizzle;
  int to;
};
constexpr Case cases[] = {
    {0, 0, 0, 8, TensorSwizzle::none, 0},         {8, 4, 0, 8, TensorSwizzle::none, 128},
    {-4, -2, -1, 8, TensorSwizzle::none, 0},      {28, 13, 1, 8, TensorSwizzle::none, 0},
    {-8, 0, 0, 8, TensorSwizzle::none, 0},        {0, 16, 0, 8, TensorSwizzle::none, 0},
    {4, 1, 0, 4, TensorSwizzle::bytes32, 0},      {4, 1, 0, 8, TensorSwizzle::bytes32, 384},
    {8, 2, 0, 16, TensorSwizzle::bytes64, 0},     {4, 2, 1, 16, TensorSwizzle::bytes64, 256},
    {4, 3, 0, 32, TensorSwizzle::bytes128, 0},    {-8, 3, 0, 32, TensorSwizzle::bytes128, 1024},
    {4, -1, 0, 32, TensorSwizzle::bytes128, 384},  // the pattern goes by address
    {12, 3, 1, 16, TensorSwizzle::bytes128, 128},
};

/// Where the hardware puts a byte, as CUDA's programming guide draws it: chunk c of 16 bytes of a row of 128
/// goes to chunk c ^ (row % 8), of rows of 64 bytes to c ^ (row / 2 % 4), of 32 to c ^ (row / 4 % 2).
int drawn(TensorSwizzle swizzle, int byte) {
  const int chunk = byte / 16;
  switch (swizzle) {
    case TensorSwizzle::bytes128: return ((chunk / 8 * 8) + (chunk % 8 ^ byte / 128 % 8)) * 16 + byte % 16;
    case TensorSwizzle::bytes64: return ((chunk / 4 * 4) + (chunk % 4 ^ byte / 128 % 4)) * 16 + byte % 16;
    case TensorSwizzle::bytes32: return ((chunk / 2 * 2) + (chunk % 2 ^ byte / 128 % 2)) * 16 + byte % 16;
    default: return byte;
  }
}

/// Loads the box of a case and shows it, element by element.
void load_box(const Operands& o) {
  const Case& c = cases[o.argument];
  const int t = arch::thread_index();
  const auto map = map_of(o.in, {32, 16, 2}, {c.line, 4, 2}, c.swizzle);
  make(1, 1);
  const int elements = static_cast<int>(c.line) * 8;
  if (t == 0) {
    arch::prefetch_tensor_map(map);
    arch::mbarrier_arrive_expect(barrier(0), 4 * elements);
    arch::tensor_load(arch::shared_memory() + c.to, map, c.x, c.y, c.z, barrier(0));
  }
  arch::mbarrier_wait(barrier(0), 0);
  for (int i = t; i < elements; i += 64) {
    const int x = arch::shared_load<int>(arch::shared_memory() + drawn(c.swizzle, c.to + 4 * i));
    arch::global_store(o.out + i, x);
  }
}

std::vector<int> box_of(const Case& c) {
  std::vector<int> expected;
  for (int z = c.z; z < c.z + 2; ++z) {
    for (int y = c.y; y < c.y + 4; ++y) {
      for (int x = c.x; x < c.x + static_cast<int>(c.line); ++x) {
        const bool inside = x >= 0 && x < 32 && y >= 0 && y < 16 && z >= 0 && z < 2;
        expected.push_back(inside ? test::input((z * 16 + y) * 32 + x) : 0);
      }
    }
  }
  return expected;
}

/// A line of the operand by a map that the kernel makes. @tparam acquires its copying thread lets the engine
/// know
template <bool acquires>
void load_by_own_map(const Operands& o) {
  const int t = arch::thread_index();
  auto& map = *reinterpret_cast<TensorMap*>(o.out + 256);
  make(1, 1);
  arch::make_tensor_map(&map, map_of(o.in, {32, 32, 1}, {32, 1, 1}), {o.in, 32, 16, 128},
                        arch::shared_memory() + 2048);
  arch::block_barrier();
  if (t == 0) {
    if constexpr (acquires) arch::acquire_tensor_map(map);
    arch::mbarrier_arrive_expect(barrier(0), 128);
    mark("copy");
    arch::tensor_load(arch::shared_memory(), map, 0, 3, 0, barrier(0));
  }
  arch::mbarrier_wait(barrier(0), 0);
  arch::global_store(o.out + t, arch::shared_load<int>(arch::shared_memory() + 4 * t));
}

enum class Slip {
  none,
  no_wait,
  wrong_parity,
  no_expect,
  arrive_after,
  expect_less,
  expect_more,
  one_waits,
  no_read
};

/// Two lines of the operand by two loads; each thread reads one number.
template <Slip slip>
void two_loads(const Operands& o) {
  const int t = arch::thread_index();
  const auto map = map_of(o.in, {32, 32, 1}, {32, 1, 1});
  make(1, 1);
  if (t == 0) {
    constexpr int bytes = slip == Slip::expect_less ? 128 : slip == Slip::expect_more ? 272 : 256;
    if constexpr (slip == Slip::no_expect) arch::mbarrier_arrive(barrier(0));
    if constexpr (slip != Slip::no_expect && slip != Slip::arrive_after) {
      arch::mbarrier_arrive_expect(barrier(0), bytes);
    }
    mark("first");
    arch::tensor_load(arch::shared_memory(), map, 0, 3, 0, barrier(0));
    mark("second");
    arch::tensor_load(arch::shared_memory() + 128, map, 0, 9, 0, barrier(0));
    if constexpr (slip == Slip::arrive_after) arch::mbarrier_arrive(barrier(0));
  }
  const bool waits = slip != Slip::no_wait && (slip != Slip::one_waits || t == 0);
  if (waits) {
    mark("wait");
    arch::mbarrier_wait(barrier(0), slip == Slip::wrong_parity ? 1 : 0);
  }
  if constexpr (slip == Slip::no_read) return;
  mark("read");
  const int x = arch::shared_load<int>(arch::shared_memory() + 4 * t);
  arch::global_store(o.out + t, x);
}

std::vector<int> two_lines() {
  std::vector<int> expected;
  for (int i = 0; i < 64; ++i) expected.push_back(test::input(32 * (i < 32 ? 3 : 9) + i % 32));
  return expected;
}

enum class Ring { none, no_empty, release_early, end_early };

/// One thread loads lines into two stages, a warp reads them.
template <Ring slip>
void ring(const Operands& o) {
  constexpr int stages = 2;
  constexpr int rounds = 7;
  const int t = arch::thread_index();
  const auto map = map_of(o.in, {32, 32, 1}, {32, 1, 1});
  if (t == 0) {
    for (int i = 0; i < stages; ++i) {
      arch::mbarrier_init(barrier(i), 1);
      arch::mbarrier_init(barrier(stages + i), 32);
    }
    arch::mbarrier_init_fence();
  }
  arch::block_barrier();
  int parity = 0;
  for (int i = 0; i < rounds; ++i) {
    const int stage = i % stages;
    const arch::SharedAddress memory = arch::shared_memory() + 128 * stage;
    if (t == 32) {
      if constexpr (slip != Ring::no_empty) arch::mbarrier_wait(barrier(stages + stage), parity ^ 1);
      arch::mbarrier_arrive_expect(barrier(stage), 128);
      mark("load");
      arch::tensor_load(memory, map, 0, i, 0, barrier(stage));
    } else if (t < 32 && (slip != Ring::end_early || i < rounds - 1)) {
      arch::mbarrier_wait(barrier(stage), parity);
      if constexpr (slip == Ring::release_early) arch::mbarrier_arrive(barrier(stages + stage));
      mark("read");
      const int x = arch::shared_load<int>(memory + 4 * (31 - t));
      if constexpr (slip != Ring::release_early) arch::mbarrier_arrive(barrier(stages + stage));
      arch::global_store(o.out + 32 * i + t, x);
    }
    if (stage == stages - 1) parity ^= 1;
  }
}

std::vector<int> ring_numbers() {
  std::vector<int> expected;
  for (int i = 0; i < 7; ++i) {
    for (int t = 0; t < 32; ++t) expected.push_back(test::input(32 * i + 31 - t));
  }
  return expected;
}

enum class Cast { none, mask_less, mask_more, no_meeting, expect_own, no_end };

/// Each block of a cluster loads one line for all, which all show.
template <Cast slip>
void multicast(const Operands& o) {
  const int t = arch::thread_index();
  const int rank = arch::cluster_rank();
  const int blocks = arch::cluster_blocks();
  const auto map = map_of(o.in, {32, 32, 1}, {32, 1, 1});
  if (t == 0) {
    mark("make");
    arch::mbarrier_init(barrier(0), 1);
    arch::mbarrier_init_fence();
  }
  if constexpr (slip == Cast::no_meeting) {
    arch::block_barrier();
  } else {
    arch::cluster_arrive_relaxed();
    arch::cluster_wait();
  }
  if (t == 0) {
    arch::mbarrier_arrive_expect(barrier(0), slip == Cast::expect_own ? 128 : 128 * blocks);
    const unsigned all = slip == Cast::mask_more ? 2U << blocks : 1U << blocks;
    const unsigned mask = slip == Cast::mask_less && rank == 1 ? all - 2 : all - 1;
    mark("load");
    arch::tensor_load_multicast(arch::shared_memory() + 128 * rank, map, 0, 5 * rank, 0, barrier(0), mask);
  }
  if (slip == Cast::no_end && rank == 0) return;
  mark("wait");
  arch::mbarrier_wait(barrier(0), 0);
  if (t >= 32) return;
  for (int i = 0; i < blocks; ++i) {
    const int x = arch::shared_load<int>(arch::shared_memory() + 128 * i + 4 * t);
    arch::global_store(o.out + (rank * blocks + i) * 32 + t, x);
  }
}

std::vector<int> cast_numbers(int blocks) {
  std::vector<int> expected;
  for (int rank = 0; rank < blocks; ++rank) {
    for (int i = 0; i < blocks; ++i) {
      for (int t = 0; t < 32; ++t) expected.push_back(test::input(32 * 5 * i + t));
    }
  }
  return expected;
}

/// One load as it stands, which is never waited for.
void load_once(const int* data, std::array<unsigned, 3> extent, std::array<unsigned, 3> box,
               TensorSwizzle swizzle, int to) {
  const auto map = map_of(data, extent, box, swizzle);
  make(1, 1);
  if (arch::thread_index() != 0) return;
  arch::mbarrier_arrive_expect(barrier(0), 16);
  mark("load");
  arch::tensor_load(arch::shared_memory() + to, map, 0, 0, 0, barrier(0));
}
void never_waited(const Operands& o) { load_once(o.in, {32, 1, 1}, {4, 1, 1}, TensorSwizzle::none, 0); }
void load_unaligned_place(const Operands& o) {
  load_once(o.in, {32, 1, 1}, {4, 1, 1}, TensorSwizzle::none, 64);
}
void load_between_chunks(const Operands& o) {
  const auto map = map_of(o.in, {32, 1, 1}, {4, 1, 1}, TensorSwizzle::none);
  make(1, 1);
  if (arch::thread_index() != 0) return;
  mark("load");
  arch::tensor_load(arch::shared_memory(), map, 6, 0, 0, barrier(0));
}
void load_unaligned_data(const Operands& o) {
  load_once(o.in + 1, {32, 1, 1}, {4, 1, 1}, TensorSwizzle::none, 0);
}
void load_unaligned_stride(const Operands& o) {
  load_once(o.in, {33, 2, 1}, {4, 1, 1}, TensorSwizzle::none, 0);
}
void load_odd_line(const Operands& o) { load_once(o.in, {32, 1, 1}, {6, 1, 1}, TensorSwizzle::none, 0); }
void load_long_line(const Operands& o) { load_once(o.in, {32, 1, 1}, {12, 1, 1}, TensorSwizzle::bytes32, 0); }
void load_long_box(const Operands& o) { load_once(o.in, {32, 32, 1}, {4, 257, 1}, TensorSwizzle::none, 0); }
void load_nothing(const Operands& o) { load_once(o.in, {32, 0, 1}, {4, 1, 1}, TensorSwizzle::none, 0); }
void load_past_operand(const Operands& o) {
  load_once(o.in, {32, 33, 1}, {4, 33, 1}, TensorSwizzle::none, 0);
}
void load_past_memory(const Operands& o) {
  load_once(o.in, {32, 32, 1}, {32, 33, 1}, TensorSwizzle::none, 128);
}
void load_unwritten(const Operands& o) { load_once(o.out, {32, 1, 1}, {4, 1, 1}, TensorSwizzle::none, 0); }
void load_at_no_barrier(const Operands& o) {
  if (arch::thread_index() != 0) return;
  const auto map = map_of(o.in, {32, 1, 1}, {4, 1, 1});
  mark("load");
  arch::tensor_load(arch::shared_memory(), map, 0, 0, 0, barrier(1));
}

/// Loads what other threads have written.
template <bool right>
void load_written(const Operands& o) {
  const int t = arch::thread_index();
  make(1, 1);
  mark("write");
  arch::global_store(o.out + t, 3 * t);
  if constexpr (right) arch::block_barrier();
  if (t == 7) {
    const auto map = map_of(o.out, {64, 1, 1}, {64, 1, 1});
    arch::mbarrier_arrive_expect(barrier(0), 256);
    mark("load");
    arch::tensor_load(arch::shared_memory(), map, 0, 0, 0, barrier(0));
  }
  arch::mbarrier_wait(barrier(0), 0);
  arch::global_store(o.out + 64 + t, arch::shared_load<int>(arch::shared_memory() + 4 * t));
}

/// Writes over what a load of another thread has read, once the load has landed.
template <bool waits>
void write_over_loaded(const Operands& o) {
  const int t = arch::thread_index();
  make(1, 1);
  arch::global_store(o.out + t, 3 * t);
  arch::block_barrier();
  if (t == 0) {
    const auto map = map_of(o.out, {64, 1, 1}, {64, 1, 1});
    arch::mbarrier_arrive_expect(barrier(0), 256);
    mark("load");
    arch::tensor_load(arch::shared_memory(), map, 0, 0, 0, barrier(0));
  }
  if (waits || t == 0) arch::mbarrier_wait(barrier(0), 0);
  mark("write");
  arch::global_store(o.out + t, t);
}

/// Loads over what the thread's own stores have left.
template <bool fence, bool stores>
void load_over_stores(const Operands& o) {
  const int t = arch::thread_index();
  const auto map = map_of(o.in, {32, 1, 1}, {32, 1, 1});
  make(1, 1);
  if constexpr (stores) {
    mark("store");
    arch::shared_store(arch::shared_memory() + 4 * t, t);
  }
  if constexpr (fence) arch::async_proxy_fence();
  arch::block_barrier();
  if (t == 0) {
    arch::mbarrier_arrive_expect(barrier(0), 128);
    mark("load");
    arch::tensor_load(arch::shared_memory(), map, 0, 0, 0, barrier(0));
  }
  arch::mbarrier_wait(barrier(0), 0);
}

constexpr test::Setup usual = {.shared_memory = 4224};

}  // namespace

TEST_CASE("Boxes are loaded with zeros around the tensor, permuted by address", "[tensor_load]") {
  for (int i = 0; i < static_cast<int>(std::size(cases)); ++i) {
    INFO("case " << i);
    fine(load_box, {.shared_memory = 4224, .argument = i}, box_of(cases[i]));
  }
}

TEST_CASE("A map that kernels write is acquired by the thread that copies by it", "[tensor_load]") {
  constexpr test::Setup one_warp = {.threads = 32, .shared_memory = 4224};
  std::vector<int> line;
  for (int i = 0; i < 32; ++i) line.push_back(test::input(3 * 32 + i));
  fine(load_by_own_map<true>, one_warp, line);
  caught(load_by_own_map<false>, one_warp, {"copies by a tensor map that kernels write", "@copy"});
}

TEST_CASE("What a load brings is there when its phase has ended", "[tensor_load]") {
  fine(two_loads<Slip::none>, usual, two_lines());
  caught(two_loads<Slip::wrong_parity>, usual, {"of shared memory"});
  caught(two_loads<Slip::no_wait>, usual, {"of shared memory", "@read"});
  caught(two_loads<Slip::one_waits>, usual, {"of shared memory", "@read"});
}

TEST_CASE("A phase waits for as many bytes as are copied", "[tensor_load]") {
  caught(two_loads<Slip::no_expect>, usual, {"shared memory"});
  caught(two_loads<Slip::arrive_after>, usual,
         {"count 256 bytes of copies more than its phase 0 expects", "by a bulk copy", "@first"});
  caught(two_loads<Slip::expect_less>, usual, {"shared memory"});
  caught(two_loads<Slip::expect_more>, usual,
         {"deadlock", "lacks 0 of 1 arrivals and 16 bytes of copies", "@wait"});
}

TEST_CASE("A block ends after the loads to its shared memory", "[tensor_load]") {
  fine(two_loads<Slip::no_read>, usual);
  caught(never_waited, usual, {"block 0 ends", "bulk copy", "@load"});
  caught(ring<Ring::end_early>, usual, {"block 0 ends", "bulk copy", "@load"});
}

TEST_CASE("A ring of stages that loads fill", "[tensor_load]") {
  fine(ring<Ring::none>, usual, ring_numbers());
  caught(ring<Ring::no_empty>, usual, {"shared memory"});
  caught(ring<Ring::release_early>, usual, {"race: byte ", "of shared memory", "@read", "@load"});
}

TEST_CASE("Loads to several blocks of a cluster", "[tensor_load]") {
  for (const unsigned cluster : {1U, 2U, 4U}) {
    fine(multicast<Cast::none>, {.grid = cluster, .shared_memory = 4224, .cluster = cluster},
         cast_numbers(static_cast<int>(cluster)));
  }
  const test::Setup setup = {.grid = 2, .shared_memory = 4224, .cluster = 2};
  caught(multicast<Cast::mask_less>, setup,
         {"deadlock", "lacks 0 of 1 arrivals and 128 bytes of copies", "of block 0", "@wait"});
  caught(multicast<Cast::mask_more>, setup, {"copies to block 2 of a cluster of 2", "@load"});
  caught(multicast<Cast::no_meeting>, setup, {"mbarrier at byte 4096 of shared memory", "@load"});
  caught(multicast<Cast::expect_own>, setup, {"shared memory"});
  caught(multicast<Cast::no_end>, setup, {"block 0", "@load"});
}

TEST_CASE("Tensor loads are counted", "[tensor_load]") {
  const test::Trial cast =
      test::run_once(multicast<Cast::none>, {.grid = 4, .shared_memory = 4224, .cluster = 4});
  REQUIRE(cast.outcome.fault == "");
  CHECK(cast.outcome.counters.tensor_loads == 4);
  CHECK(cast.outcome.counters.tensor_bytes_read == 4 * 128);  // once for all blocks
  CHECK(cast.outcome.counters.tensor_bytes_landed == 4 * 4 * 128);
  CHECK(cast.outcome.counters.mbarrier_waits == 4 * 64);
  CHECK(cast.outcome.counters.cluster_barriers == 1);
  CHECK(cast.outcome.counters.bytes_copied == 0);

  // Of a box that lies over the edge, the part inside is read.
  constexpr int over_edge = 3;
  const test::Trial edge = test::run_once(load_box, {.shared_memory = 4224, .argument = over_edge});
  REQUIRE(edge.outcome.fault == "");
  CHECK(edge.outcome.counters.tensor_bytes_read == 4 * 4 * 3);
  CHECK(edge.outcome.counters.tensor_bytes_landed == 4 * 8 * 4 * 2);
}

TEST_CASE("The same seed lands loads in the same order", "[tensor_load]") {
  std::set<std::string> faults;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const test::Setup setup = {.grid = 4, .shared_memory = 4224, .cluster = 4};
    const test::Trial first =
        test::run_once(multicast<Cast::expect_own>, setup, seed, emulator::CopyTiming::mixed);
    const test::Trial again =
        test::run_once(multicast<Cast::expect_own>, setup, seed, emulator::CopyTiming::mixed);
    CHECK(first.outcome.fault != "");
    CHECK(first.outcome.fault == again.outcome.fault);
    faults.insert(first.outcome.fault);
  }
  CHECK(faults.size() > 1);
}

TEST_CASE("Loads that the engine does not take", "[tensor_load]") {
  caught(load_unaligned_place, usual,
         {"copies to shared memory at byte 64, which is not a multiple of 128", "@load"});
  caught(load_between_chunks, usual,
         {"begins at element 6 of its lines, which is no multiple of 16 bytes", "@load"});
  caught(load_unaligned_data, usual, {"tensor map whose data is not aligned to 16 bytes", "@load"});
  caught(load_unaligned_stride, usual, {"tensor map whose stride is no multiple of 16 bytes", "@load"});
  caught(load_odd_line, usual, {"tensor map whose box has lines of no multiple of 16 bytes", "@load"});
  caught(load_long_line, usual, {"tensor map whose box has lines longer than its swizzle", "@load"});
  caught(load_long_box, usual, {"tensor map whose box has not 1 to 256 elements", "@load"});
  caught(load_nothing, usual, {"tensor map whose extent is not 1 to 2^32", "@load"});
  caught(load_at_no_barrier, usual,
         {"uses an mbarrier at byte 4104 of shared memory of block 0, where none was made", "@load"});
}

TEST_CASE("Loads keep to the bounds of memory", "[tensor_load]") {
  caught(load_past_operand, usual,
         {"reads 16 bytes of global memory that begin 0 bytes behind the end of in", "@load"});
  caught(load_past_memory, usual,
         {"copies to 4224 bytes at byte 128 of shared memory, of which the launch has 4224", "@load"});
  caught(load_unwritten, usual, {"reads byte 0 of out, which was never written", "@load"});
}

TEST_CASE("Loads are ordered as other accesses of their thread", "[tensor_load]") {
  fine(load_written<true>, usual);
  caught(load_written<false>, usual, {"of out", "@load"});
  fine(write_over_loaded<true>, usual);
  caught(write_over_loaded<false>, usual, {"of out", "nothing orders"});
  fine(load_over_stores<true, true>, usual);
  fine(load_over_stores<false, false>, usual);
  caught(load_over_stores<false, true>, usual, {"no async_proxy_fence", "@store", "@load"});
}
