/// Blocks of a cluster: who they are, their barrier, each other's shared memory.
#include <algorithm>

#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::mark;
using test::Operands;

namespace {

using Four = arch::Vector<float, 4>;

arch::SharedAddress piece(int i) { return arch::shared_memory() + 16 * i; }

/// Shows who each block is.
void indices(const Operands& o) {
  if (arch::thread_index() != 0) return;
  int* const out = o.out + 4 * arch::block_index();
  arch::global_store(out, arch::cluster_rank());
  arch::global_store(out + 1, arch::cluster_blocks());
  arch::global_store(out + 2, static_cast<int>(arch::cluster_index()));
  arch::global_store(out + 3, static_cast<int>(arch::grid_clusters()));
}

void meet() {
  arch::cluster_arrive();
  arch::cluster_wait();
}
void meet_relaxed() {
  arch::cluster_arrive_relaxed();
  arch::cluster_wait();
}

enum class Slip { none, no_barrier, relaxed, no_last_barrier, relaxed_last, write_under_read };

/// Each thread reads what the same thread of the next block has left.
template <Slip slip>
void ask_next(const Operands& o) {
  const int t = arch::thread_index();
  const int blocks = arch::cluster_blocks();
  const auto value = static_cast<float>(100 * arch::block_index() + static_cast<unsigned>(t));
  mark("write");
  arch::shared_store(piece(t), Four{value, value, value, value});
  if constexpr (slip == Slip::relaxed) meet_relaxed();
  if constexpr (slip != Slip::no_barrier && slip != Slip::relaxed) meet();
  mark("read");
  const Four four = arch::peer_load<Four>(piece(t), (arch::cluster_rank() + 1) % blocks);
  if constexpr (slip == Slip::write_under_read) {
    mark("again");
    arch::shared_store(piece(t), four);
  }
  arch::global_store(o.out + 64 * arch::block_index() + t, static_cast<int>(four.v[3]));
  if constexpr (slip == Slip::relaxed_last) meet_relaxed();
  if constexpr (slip != Slip::no_last_barrier && slip != Slip::relaxed_last) meet();
}

std::vector<int> answers(int grid, int cluster) {
  std::vector<int> expected;
  for (int block = 0; block < grid; ++block) {
    const int next = block / cluster * cluster + (block + 1) % cluster;
    for (int t = 0; t < 64; ++t) expected.push_back(100 * next + t);
  }
  return expected;
}

/// Reads shared memory of the block `o.argument`, or from a byte on.
void ask_block(const Operands& o) {
  mark("read");
  arch::peer_load<Four>(piece(0), o.argument);
}
void ask_byte(const Operands& o) {
  mark("read");
  arch::peer_load<Four>(arch::shared_memory() + o.argument, 0);
}

void arrive_twice(const Operands&) {
  arch::cluster_arrive();
  mark("again");
  arch::cluster_arrive();
}
void wait_alone(const Operands&) {
  mark("wait");
  arch::cluster_wait();
}

/// The last block of each cluster ends where the others meet.
template <bool right>
void one_ends(const Operands& o) {
  if (!right && arch::cluster_rank() == arch::cluster_blocks() - 1) return;
  arch::cluster_arrive();
  mark("wait");
  arch::cluster_wait();
  if (arch::thread_index() == 0) arch::global_store(o.out + arch::block_index(), 1);
}

/// Half a warp takes another way.
void part_arrives(const Operands&) {
  if (arch::thread_index() < 16) {
    arch::cluster_arrive();
  } else {
    mark("other");
    arch::cluster_arrive();
  }
}

/// One lane waits for a barrier, and its warp meets it again before the cluster's barrier, or does not.
template <bool right>
void one_lane_waits(const Operands&) {
  const int t = arch::thread_index();
  if (t == 0) {
    arch::mbarrier_init(arch::shared_memory(), 1);
    arch::mbarrier_init_fence();
    arch::mbarrier_arrive(arch::shared_memory());
    arch::mbarrier_wait(arch::shared_memory(), 0);
  }
  if constexpr (right) arch::warp_barrier();
  meet();
}

/// What one block writes to global memory, another reads behind the barrier.
template <bool right>
void through_global(const Operands& o) {
  const int t = arch::thread_index();
  if (arch::cluster_rank() == 0) arch::global_store(o.out + t, t + 5);
  right ? meet() : meet_relaxed();
  if (arch::cluster_rank() == 0) return;
  mark("read");
  const int x = arch::global_load<int>(o.out + t);
  arch::global_store(o.out + 64 + t, x);
}

/// Steps that two warps have made which do not wait for each other, and by how many the first was ahead.
int steps_of[2];
int most_ahead;

constexpr int all_steps = 200;

void walk(const Operands&) {
  const int warp = arch::warp_index();
  for (int i = 0; i < all_steps; ++i) {
    if (arch::lane_index() == 0) {
      ++steps_of[warp];
      most_ahead = std::max(most_ahead, steps_of[0] - steps_of[1]);
    }
    arch::warp_barrier();
  }
}

}  // namespace

TEST_CASE("Blocks of clusters know who they are", "[cluster]") {
  std::vector<int> expected;
  for (int block = 0; block < 12; ++block) {
    for (const int x : {block % 4, 4, block / 4, 3}) expected.push_back(x);
  }
  fine(indices, {.grid = 12, .cluster = 4}, expected);
  fine(indices, {.grid = 2}, {0, 1, 0, 2, 0, 1, 1, 2});
}

TEST_CASE("Blocks of a cluster read each other's shared memory", "[cluster]") {
  for (const unsigned cluster : {1U, 2U, 4U, 8U}) {
    const test::Setup setup = {.grid = 8, .cluster = cluster};
    fine(ask_next<Slip::none>, setup, answers(8, static_cast<int>(cluster)));
    fine(ask_next<Slip::relaxed_last>, setup, answers(8, static_cast<int>(cluster)));
  }
  fine(ask_next<Slip::none>, {.grid = 8, .blocks_wait = true, .cluster = 2}, answers(8, 2));
  fine(ask_next<Slip::none>, {.grid = 8, .host_threads = 3, .cluster = 4}, answers(8, 4));
}

TEST_CASE("What another block has written is read behind the cluster's barrier alone", "[cluster]") {
  const test::Setup setup = {.grid = 2, .cluster = 2};
  caught(ask_next<Slip::no_barrier>, setup, {"of shared memory", "@read"});
  caught(ask_next<Slip::relaxed>, setup,
         {"race: byte ", "of shared memory was written by", "@write", "@read"});
  caught(ask_next<Slip::write_under_read>, setup,
         {"race: byte ", "of shared memory was ", "@read", "@again"});
  fine(through_global<true>, setup);
  caught(through_global<false>, setup, {"race: byte ", "of out", "@read"});
}

TEST_CASE("A block's shared memory is there while others use it", "[cluster]") {
  caught(ask_next<Slip::no_last_barrier>, {.grid = 2, .cluster = 2}, {"shared memory", "@read"});
}

TEST_CASE("Other blocks' shared memory has bounds", "[cluster]") {
  const test::Setup setup = {.grid = 2, .argument = 2, .cluster = 2};
  caught(ask_block, setup, {"uses shared memory of block 2 of a cluster of 2", "@read"});
  caught(ask_block, {.grid = 2, .argument = -1, .cluster = 2}, {"of block -1 of a cluster of 2", "@read"});
  caught(ask_byte, {.grid = 2, .argument = 1024, .cluster = 2},
         {"at byte 1024 of shared memory, of which the launch has 1024", "@read"});
  caught(ask_byte, {.grid = 2, .argument = 8, .cluster = 2}, {"not a multiple of 16", "@read"});
}

TEST_CASE("The cluster's barrier is arrived at once and then waited for", "[cluster]") {
  const test::Setup setup = {.grid = 4, .cluster = 2};
  caught(arrive_twice, setup, {"arrives at the cluster's barrier again", "@again"});
  caught(wait_alone, setup, {"waits at the cluster's barrier without having arrived", "@wait"});
  fine(one_ends<true>, setup, {1, 1, 1, 1});
  caught(one_ends<false>, setup,
         {"deadlock: no thread can go on", "(and 63 more) waits at the cluster's barrier at ", "@wait",
          "(and 63 more) has ended"});
  caught(part_arrives, setup, {"divergence", "@other"});
  fine(one_lane_waits<true>, setup);
  caught(one_lane_waits<false>, setup, {"divergence", "has waited at mbarriers 1 times since its warp met"});
}

TEST_CASE("Launches of clusters that a device refuses", "[cluster]") {
  const emulator::Entry entry = {nullptr, 1024};
  const auto fault = [&](unsigned grid, unsigned cluster) {
    return emulator::fault_of({.entry = &entry, .grid = grid, .threads = 32, .cluster = cluster}, 1024);
  };
  CHECK(fault(8, 8) == "");
  CHECK(fault(8, 1) == "");
  CHECK(fault(8, 0) != "");
  CHECK(fault(9, 2) != "");
  CHECK(fault(16, 16) != "");
}

TEST_CASE("Some warps lag far behind", "[cluster]") {
  int runs_far_ahead = 0;
  int runs_close = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    steps_of[0] = steps_of[1] = most_ahead = 0;
    CHECK(test::run_once(walk, {}, seed).outcome.fault == "");
    runs_far_ahead += most_ahead > all_steps * 3 / 4;
    runs_close += most_ahead < all_steps / 4;
  }
  CHECK(runs_far_ahead >= 5);
  CHECK(runs_close >= 5);
}
