/// Threads that wait for what never comes: reported with who waits where for what.
#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::mark;
using test::Operands;

namespace {

const std::string nobody = "deadlock: no thread can go on";

/// Thread 5 does not come to the barrier, if `right` is false.
template <bool right>
void one_ends(const Operands& o) {
  const int t = arch::thread_index();
  if (!right && t == 5) return;
  mark("barrier");
  arch::block_barrier();
  arch::global_store(o.out + t, 1);
}

/// One warp waits for the block, the other for a named barrier.
void two_kinds(const Operands&) {
  if (arch::thread_index() < 32) {
    mark("block");
    arch::block_barrier();
  } else {
    mark("named");
    arch::named_barrier(9, 64);
  }
}

/// Waits for a counter that somebody sets, or nobody.
template <bool right>
void wait_for_counter(const Operands& o) {
  if (right && arch::block_index() == 0) arch::store_release(o.counters, 3);
  if (arch::block_index() != 1) return;
  for (;;) {
    mark("look");
    const int value = arch::load_acquire(o.counters);
    if (value == 3) break;
  }
}

/// The same in a block whose other threads wait at the barrier.
void wait_within_block(const Operands& o) {
  if (arch::thread_index() == 0) {
    for (;;) {
      mark("look");
      const int value = arch::load_acquire(o.counters);
      if (value == 1) break;
    }
  }
  mark("barrier");
  arch::block_barrier();
}

/// Each block waits for the one before it: by its ticket, or by its index, which no launch keeps to.
template <bool right>
void chain(const Operands& o) {
  const int turn = right ? arch::fetch_add(o.counters, 1) : 31 - static_cast<int>(arch::block_index());
  for (;;) {
    mark("look");
    const int value = arch::load_acquire(o.counters + 1);
    if (value == turn) break;
  }
  arch::global_store(o.out + turn, turn);
  arch::store_release(o.counters + 1, turn + 1);
}

/// Two blocks that each wait for the other first.
template <bool right>
void cross(const Operands& o) {
  const int b = static_cast<int>(arch::block_index());
  if (right) arch::store_release(o.counters + b, 1);
  for (;;) {
    mark("look");
    const int value = arch::load_acquire(o.counters + 1 - b);
    if (value == 1) break;
  }
  if (!right) arch::store_release(o.counters + b, 1);
}

/// Spins on a counter by an operation that changes nothing, or by a plain load.
void spin_on_atomic(const Operands& o) {
  for (;;) {
    mark("look");
    const int value = arch::fetch_add(o.counters, 0);
    if (value == 1) break;
  }
}
void spin_on_load(const Operands& o) {
  for (;;) {
    mark("look");
    const int value = arch::global_load<int>(o.counters);
    if (value == 1) break;
  }
}

/// A whole block looks for each turn of the loop, and tells each other what was seen.
template <bool right>
void look_together(const Operands& o) {
  if (right && arch::block_index() == 1) {
    if (arch::thread_index() == 0) arch::store_release(o.counters, 1);
    return;
  }
  for (int value = 0; value == 0;) {
    if (arch::thread_index() == 0) {
      mark("look");
      const int seen = arch::load_acquire(o.counters);
      arch::shared_store(arch::shared_memory(), seen);
    }
    arch::block_barrier();
    value = arch::shared_load<int>(arch::shared_memory());
    arch::block_barrier();
  }
}

}  // namespace

TEST_CASE("A barrier that a thread does not come to", "[deadlock]") {
  fine(one_ends<true>, {}, std::vector<int>(64, 1));
  caught(one_ends<false>, {},
         {nobody, "\n  thread 0 (warp 0, lane 0) of block 0 (and 62 more) waits at the block's barrier at ",
          "@barrier", "\n  thread 5 (warp 0, lane 5) of block 0 has ended"});
}

TEST_CASE("Warps that wait for each other at different barriers", "[deadlock]") {
  caught(two_kinds, {},
         {nobody, "thread 0 (warp 0, lane 0) of block 0 (and 31 more) waits at the block's barrier at ",
          "@block", "thread 32 (warp 1, lane 0) of block 0 (and 31 more) waits at named barrier 9 at ",
          "@named"});
}

TEST_CASE("A counter that nobody sets", "[deadlock]") {
  const test::Setup setup = {.grid = 4, .threads = 1, .blocks_wait = true};
  fine(wait_for_counter<true>, setup);
  caught(wait_for_counter<false>, setup,
         {nobody, "thread 0 (warp 0, lane 0) of block 1 looks again and again at a counter that holds 0 at ",
          "@look"});
  caught(wait_within_block, {.blocks_wait = true},
         {nobody, "thread 0 (warp 0, lane 0) of block 0 looks again and again at a counter that holds 0 at ",
          "@look", "thread 1 (warp 0, lane 1) of block 0 (and 62 more) waits at the block's barrier at ",
          "@barrier"});
}

TEST_CASE("An order of blocks that the launch does not keep", "[deadlock]") {
  const test::Setup setup = {.grid = 32, .threads = 1, .blocks_wait = true};
  std::vector<int> expected;
  for (int i = 0; i < 32; ++i) expected.push_back(i);
  fine(chain<true>, setup, expected);
  caught(chain<false>, setup,
         {nobody, "looks again and again at a counter that holds ", "@look",
          " blocks have not started: they do when others end"});
}

TEST_CASE("Blocks that wait for each other in a ring", "[deadlock]") {
  const test::Setup setup = {.grid = 2, .threads = 1, .blocks_wait = true};
  fine(cross<true>, setup);
  caught(cross<false>, setup,
         {nobody, "of block 0 looks again and again at a counter that holds 0 at ",
          "of block 1 looks again and again at a counter that holds 0 at ", "@look"});
}

TEST_CASE("Waiting by other means than load_acquire", "[deadlock]") {
  const test::Setup setup = {.grid = 2, .threads = 1, .blocks_wait = true};
  caught(spin_on_atomic, setup, {nobody, "looks again and again at a counter that holds 0 at ", "@look"});
  caught(spin_on_load, setup, {"accesses without a barrier or a look at a counter", "@look"});
}

TEST_CASE("A block that looks for a counter together", "[deadlock]") {
  const test::Setup setup = {.grid = 2, .blocks_wait = true};
  fine(look_together<true>, setup);
  caught(look_together<false>, setup,
         {nobody, "looks again and again at a counter that holds 0 at ", "@look"});
}
