/// Bulk stores of boxes: what they write, and kernels that change it too early.
#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::map_of;
using test::mark;
using test::Operands;

namespace {

constexpr int never_written = 0;

/// A box of 16 x 4 x 2 at a place of 32 x 8 x 2 numbers, swizzled in shared memory.
struct Case {
  int x, y, z;
};
constexpr Case cases[] = {{0, 0, 0}, {16, 4, 0}, {20, 6, 1}, {28, 7, 1}, {32, 0, 0}};

void store_box(const Operands& o) {
  const Case& c = cases[o.argument];
  const auto map = map_of(o.out, {32, 8, 2}, {16, 4, 2}, TensorSwizzle::bytes64);
  for (int i = arch::thread_index(); i < 128; i += 64) {
    const int row = i / 32;
    arch::shared_store(arch::shared_memory() + (i * 4 ^ (row % 4) << 4), 100 + i);
  }
  arch::async_proxy_fence();
  arch::block_barrier();
  if (arch::thread_index() != 0) return;
  arch::tensor_store(map, c.x, c.y, c.z, arch::shared_memory());
  arch::tensor_store_commit();
  arch::tensor_store_wait_read<0>();
}

std::vector<int> stored(const Case& c) {
  std::vector<int> expected(512, never_written);
  for (int i = 0; i < 128; ++i) {
    const int x = c.x + i % 16;
    const int y = c.y + i / 16 % 4;
    const int z = c.z + i / 64;
    if (x < 0 || x >= 32 || y < 0 || y >= 8 || z < 0 || z >= 2) continue;
    expected[static_cast<std::size_t>((z * 8 + y) * 32 + x)] = 100 + i;
  }
  return expected;
}

enum class Slip {
  none,
  no_fence,
  late_fence,
  no_barrier,
  no_commit,
  no_wait,
  wait_for_older,
  other_waits,
  unwritten
};

/// Two buffers of a line each, filled by a warp and stored by its first thread, three times each.
template <Slip slip>
void buffers(const Operands& o) {
  const int t = arch::thread_index();
  const auto map = map_of(o.out, {32, 6, 1}, {32, 1, 1});
  for (int i = 0; i < 6; ++i) {
    const arch::SharedAddress buffer = arch::shared_memory() + 128 * (i % 2);
    if constexpr (slip != Slip::no_wait) {
      if (t == (slip == Slip::other_waits ? 1 : 0))
        arch::tensor_store_wait_read<slip == Slip::wait_for_older ? 2 : 1>();
    }
    arch::warp_barrier();
    if (slip != Slip::unwritten || t != 9) {
      mark("fill");
      arch::shared_store(buffer + 4 * t, 10 * i + t);
    }
    if constexpr (slip != Slip::no_fence && slip != Slip::late_fence) arch::async_proxy_fence();
    if constexpr (slip != Slip::no_barrier) arch::warp_barrier();
    if constexpr (slip == Slip::late_fence) arch::async_proxy_fence();
    if (t == 0) {
      mark("store");
      arch::tensor_store(map, 0, i, 0, buffer);
      if constexpr (slip != Slip::no_commit) arch::tensor_store_commit();
    }
  }
  if (t == 0) arch::tensor_store_wait_read<0>();
}

std::vector<int> lines() {
  std::vector<int> expected;
  for (int i = 0; i < 192; ++i) expected.push_back(i / 32 * 10 + i % 32);
  return expected;
}

enum class End { none, no_commit, read_only };

/// Stores a line, and reads it from where it was stored.
template <End end>
void read_back(const Operands& o) {
  const int t = arch::thread_index();
  const auto map = map_of(o.out, {64, 1, 1}, {64, 1, 1});
  arch::shared_store(arch::shared_memory() + 4 * t, 3 * t);
  arch::async_proxy_fence();
  arch::block_barrier();
  if (t == 0) {
    mark("store");
    arch::tensor_store(map, 0, 0, 0, arch::shared_memory());
    if constexpr (end != End::no_commit) arch::tensor_store_commit();
    if constexpr (end != End::none) arch::tensor_store_wait_read<0>();
  }
  if constexpr (end == End::none || end == End::no_commit) return;
  arch::block_barrier();
  mark("read");
  const int x = arch::global_load<int>(o.out + 63 - t);
  arch::global_store(o.out + 64 + t, x);
}

/// Two stores to one place, of which nothing orders the second one after the first.
void store_twice(const Operands& o) {
  if (arch::thread_index() != 0) return;
  const auto map = map_of(o.out, {32, 1, 1}, {4, 1, 1});
  arch::shared_store(arch::shared_memory(), arch::Vector<int, 4>{1, 2, 3, 4});
  arch::async_proxy_fence();
  mark("store");
  arch::tensor_store(map, 0, 0, 0, arch::shared_memory());
  arch::tensor_store_commit();
  mark("again");
  arch::tensor_store(map, 0, 0, 0, arch::shared_memory());
  arch::tensor_store_commit();
  arch::tensor_store_wait_read<0>();
}

void store_once(const int* data, std::array<unsigned, 3> extent, std::array<unsigned, 3> box, int from,
                emulator::BoxPlace place = {{0, 0, 0}}) {
  const auto map = map_of(data, extent, box);
  if (arch::thread_index() != 0) return;
  for (int i = 0; i < 1024; i += 4) arch::shared_store(arch::shared_memory() + i, i);
  arch::async_proxy_fence();
  mark("store");
  arch::tensor_store(map, place.at[0], place.at[1], place.at[2], arch::shared_memory() + from);
}
void store_to_input(const Operands& o) { store_once(o.in, {32, 1, 1}, {4, 1, 1}, 0); }
void store_past_operand(const Operands& o) { store_once(o.out, {32, 33, 1}, {4, 33, 1}, 0); }
void store_past_memory(const Operands& o) { store_once(o.out, {32, 1, 1}, {32, 1, 1}, 1024); }
void store_between_chunks(const Operands& o) { store_once(o.out, {32, 1, 1}, {4, 1, 1}, 0, {{2, 0, 0}}); }
void store_in_front(const Operands& o) { store_once(o.out, {32, 4, 1}, {4, 2, 1}, 0, {{0, -1, 0}}); }
void store_unaligned(const Operands& o) { store_once(o.out, {32, 1, 1}, {4, 1, 1}, 16); }

constexpr test::Setup warp = {.threads = 32};

}  // namespace

TEST_CASE("Boxes are stored as far as they lie inside the tensor", "[tensor_store]") {
  for (int i = 0; i < static_cast<int>(std::size(cases)); ++i) {
    INFO("case " << i);
    fine(store_box, {.argument = i}, stored(cases[i]));
  }
}

TEST_CASE("Tensor stores are counted", "[tensor_store]") {
  const test::Trial trial = test::run_once(store_box, {.argument = 2});
  REQUIRE(trial.outcome.fault == "");
  CHECK(trial.outcome.counters.tensor_stores == 1);
  CHECK(trial.outcome.counters.tensor_bytes_stored == 4 * 12 * 2 * 1);
}

TEST_CASE("A buffer is filled again when its store has read it", "[tensor_store]") {
  fine(buffers<Slip::none>, warp, lines());
  const std::vector<std::string> reading = {"race: byte ", "being read by a bulk copy, not waited for",
                                            "writes it", "@store", "@fill"};
  caught(buffers<Slip::no_wait>, warp, reading);
  caught(buffers<Slip::wait_for_older>, warp, reading);
  caught(buffers<Slip::other_waits>, warp, reading);
  caught(buffers<Slip::no_commit>, warp, reading);
}

TEST_CASE("A store reads what all have written, and fenced, before a barrier", "[tensor_store]") {
  caught(buffers<Slip::no_fence>, warp, {"no async_proxy_fence", "@fill", "@store"});
  caught(buffers<Slip::late_fence>, warp, {"no async_proxy_fence", "@fill", "@store"});
  caught(buffers<Slip::no_barrier>, warp, {"of shared memory", "@store"});
  caught(buffers<Slip::unwritten>, warp,
         {"copies from byte 36 of shared memory, which was never written", "@store"});
}

TEST_CASE("What a store writes is there when the kernel has ended", "[tensor_store]") {
  caught(read_back<End::read_only>, {},
         {"race: byte ", "of out was being written by a bulk copy, not waited for", "@store", "@read"});
  const std::vector<std::string> unread = {"ended while a bulk store", "@store"};
  caught(read_back<End::none>, {}, unread);
  caught(read_back<End::no_commit>, {}, unread);
  caught(store_twice, {}, {"race: byte 0 of out was being written by a bulk copy", "@store", "@again"});
}

TEST_CASE("Places that a store does not take", "[tensor_store]") {
  caught(store_between_chunks, {}, {"element 2 of its lines, which is no multiple of 16 bytes", "@store"});
  caught(store_in_front, {}, {"stores a box that begins in front of its tensor", "@store"});
}

TEST_CASE("Stores keep to the bounds of memory", "[tensor_store]") {
  caught(store_to_input, {}, {"writes in, which is an input", "@store"});
  caught(store_past_operand, {}, {"of global memory that begin 0 bytes behind the end of out", "@store"});
  caught(store_past_memory, {}, {"copies from 16 bytes at byte 1024 of shared memory", "@store"});
  caught(store_unaligned, {}, {"not aligned to 128 bytes", "@store"});
}
