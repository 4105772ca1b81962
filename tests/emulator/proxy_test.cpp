/// What threads wrote by ordinary means, and what reads it by the asynchronous proxy.
#include "support/catch_compat.hpp"
#include "trial.hpp"
#include "warpgroup_operands.hpp"

using namespace quarry;
using arch::Major;
using test::caught;
using test::fine;
using test::mark;
using test::Operands;
using test::OperandTile;

namespace {

constexpr int n = 8;
constexpr OperandTile tile_a = {Major::k, 64, 128};
constexpr OperandTile tile_b = {Major::k, n, 128};
constexpr int tile_bytes = tile_a.bytes() + tile_b.bytes();
constexpr test::Setup two_groups = {.threads = 256, .shared_memory = tile_bytes};

/// The second warpgroup multiplies what all have written.
void multiply_by_second() {
  if (arch::thread_index() < 128) return;
  const arch::SharedAddress at = arch::shared_memory();
  arch::WarpgroupSumsF32<n> sums;
  arch::warpgroup_fence();
  mark("multiply");
  arch::warpgroup_multiply<arch::BF16, Major::k, Major::k>(
      sums, tile_a.descriptor(at.value, 0), tile_b.descriptor((at + tile_a.bytes()).value, 0), 0);
  arch::warpgroup_commit();
  arch::warpgroup_wait<0>();
}

/// Each thread's part of the tiles, in pieces of 16 bytes.
template <class Write>
void for_each_piece(Write write) {
  for (int i = 16 * arch::thread_index(); i < tile_bytes; i += 16 * 256) write(arch::shared_memory() + i);
}

constexpr arch::Vector<int, 4> zeros = {};

void store(const emulator::Site& site = emulator::Site::current()) {
  for_each_piece([&](arch::SharedAddress at) { arch::shared_store(at, zeros, site); });
}

void copy(const Operands& o, const emulator::Site& site = emulator::Site::current()) {
  for_each_piece([&](arch::SharedAddress at) { arch::copy_async<16>(at, o.in, 16, site); });
  arch::copy_async_commit();
}

enum class Fence { none, right, before_the_write, behind_the_barrier, of_one_warp };

template <Fence fence>
void stored(const Operands&) {
  if (fence == Fence::before_the_write) arch::async_proxy_fence();
  mark("write");
  store();
  if (fence == Fence::right) arch::async_proxy_fence();
  if (fence == Fence::of_one_warp && arch::thread_index() < 32) arch::async_proxy_fence();
  arch::block_barrier();
  if (fence == Fence::behind_the_barrier) arch::async_proxy_fence();
  multiply_by_second();
}

template <Fence fence>
void stored_by_matrices(const Operands&) {
  const arch::MatrixFragment zero = {};
  const int warp = arch::thread_index() / 32;
  mark("write");
  const emulator::Site site = emulator::Site::current();
  for (int i = 512 * warp; i < tile_bytes; i += 512 * 8) {
    arch::store_matrix_x4(arch::shared_memory() + (i + 16 * arch::lane_index()), zero, site);
  }
  if (fence == Fence::right) arch::async_proxy_fence();
  arch::block_barrier();
  multiply_by_second();
}

template <Fence fence>
void copied(const Operands& o) {
  mark("write");
  copy(o);
  if (fence == Fence::before_the_write) arch::async_proxy_fence();
  arch::copy_async_wait<0>();
  if (fence == Fence::right) arch::async_proxy_fence();
  arch::block_barrier();
  multiply_by_second();
}

/// The fence is there, and nothing that orders its thread and the readers.
void no_barrier(const Operands&) {
  store();
  arch::async_proxy_fence();
  arch::block_barrier();
  mark("write");
  store();
  arch::async_proxy_fence();
  multiply_by_second();
}

/// By named barriers: those who write arrive, those who read wait.
template <bool fenced>
void handed_over(const Operands&) {
  if (arch::thread_index() < 128) {
    mark("write");
    const emulator::Site site = emulator::Site::current();
    for (int i = 16 * arch::thread_index(); i < tile_bytes; i += 16 * 128) {
      arch::shared_store(arch::shared_memory() + i, zeros, site);
    }
    if (fenced) arch::async_proxy_fence();
    arch::named_barrier_arrive(1, 256);
  } else {
    arch::named_barrier(1, 256);
    multiply_by_second();
  }
}

/// Written again between, by ordinary means, after a fence of the first time.
template <bool fenced>
void written_twice(const Operands&) {
  store();
  arch::async_proxy_fence();
  arch::block_barrier();
  if (arch::thread_index() == 130) {
    mark("write");
    arch::shared_store(arch::shared_memory() + tile_a.offset(20, 8), zeros);
    if (fenced) arch::async_proxy_fence();
  }
  arch::block_barrier();
  multiply_by_second();
}

const std::vector<std::string> words = {"race: ", "by the asynchronous proxy, and no async_proxy_fence",
                                        "@multiply"};

}  // namespace

TEST_CASE("a missing async_proxy_fence is caught") {
  caught(stored<Fence::none>, two_groups, words);
  caught(stored<Fence::before_the_write>, two_groups, words);
  caught(stored<Fence::behind_the_barrier>, two_groups, words);
  caught(stored<Fence::of_one_warp>, two_groups, words);
  caught(stored_by_matrices<Fence::none>, two_groups, words);
  caught(copied<Fence::none>, two_groups, words);
  caught(copied<Fence::before_the_write>, two_groups, words);
  caught(handed_over<false>, two_groups, words);
  caught(written_twice<false>, two_groups,
         {"race: ", "no async_proxy_fence", "thread 130 (", "@write", "@multiply"});
}

TEST_CASE("a fence without an order of threads is caught") {
  caught(no_barrier, two_groups, {"race: ", "nothing orders the two"});
}

TEST_CASE("what lies behind a fence and a barrier is read") {
  fine(stored<Fence::right>, two_groups);
  fine(stored_by_matrices<Fence::right>, two_groups);
  fine(copied<Fence::right>, two_groups);
  fine(handed_over<true>, two_groups);
  fine(written_twice<true>, two_groups);
}
