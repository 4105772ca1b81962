/// Threads and blocks that share global memory, with and without what orders them.
#include <algorithm>

#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::mark;
using test::Operands;

namespace {

const std::vector<std::string> race = {"race:", " of out was ", "@write", "@read",
                                       "and nothing orders the two"};

enum class Between { nothing, block_barrier, warp_barrier };

/// Each thread writes a number and reads the number of thread `t ^ distance` of its block.
template <int distance, Between between>
void within_block(const Operands& o) {
  const int t = arch::thread_index();
  arch::global_store(o.out + t, 0);
  arch::block_barrier();
  mark("write");
  arch::global_store(o.out + t, t);
  if constexpr (between == Between::block_barrier) arch::block_barrier();
  if constexpr (between == Between::warp_barrier) arch::warp_barrier();
  mark("read");
  const int x = arch::global_load<int>(o.out + (t ^ distance));
  arch::global_store(o.out + 64 + t, x);
}

/// A named barrier between the warps of a block.
template <bool right>
void by_named_barrier(const Operands& o) {
  const int t = arch::thread_index();
  if (t < 32) {
    mark("write");
    arch::global_store(o.out + t, t);
    arch::named_barrier_arrive(1, 64);
  } else {
    if (right) arch::named_barrier(1, 64);
    mark("read");
    const int x = arch::global_load<int>(o.out + t - 32);
    arch::global_store(o.out + t, x);
    if (!right) arch::named_barrier(1, 64);
  }
}

std::vector<int> neighbours(int mask) {
  std::vector<int> expected;
  for (int t = 0; t < 128; ++t) expected.push_back(t < 64 ? t : (t - 64) ^ mask);
  return expected;
}

/// Blocks that do not wait for each other. Wrong: all write one number.
template <bool right>
void blocks_write(const Operands& o) {
  const int b = static_cast<int>(arch::block_index());
  mark("write");
  arch::global_store(o.out + (right ? b : 3), b);
}

/// A byte each. Wrong: two blocks write one byte.
template <bool right>
void blocks_write_bytes(const Operands& o) {
  auto* const at = reinterpret_cast<unsigned char*>(o.out) + arch::block_index();
  mark("write");
  arch::global_store(right ? at : at - arch::block_index() % 2, static_cast<unsigned char>(1));
}

/// Block 0 writes what the others read.
void blocks_read(const Operands& o) {
  const unsigned b = arch::block_index();
  if (b == 0) {
    mark("write");
    arch::global_store(o.counters, 1);
  } else {
    mark("read");
    arch::global_load<int>(o.counters);
  }
}

/// Each block writes a number and draws a ticket, which orders nothing; the block that draws the last one
/// sums all numbers.
void last_block_sums(const Operands& o) {
  const int b = static_cast<int>(arch::block_index());
  const int blocks = static_cast<int>(arch::grid_blocks());
  mark("write");
  arch::global_store(o.out + 1 + b, b + 1);
  if (arch::fetch_add(o.counters, 1) != blocks - 1) return;
  int sum = 0;
  for (int i = 0; i < blocks; ++i) {
    mark("read");
    sum += arch::global_load<int>(o.out + 1 + i);
  }
  arch::global_store(o.out, sum);
}

enum class Turn { released, relaxed, not_waited };

/// Blocks take tickets, and each adds to a sum when it is its turn. Turns are told by a counter.
template <Turn turn>
void in_turn(const Operands& o) {
  const int ticket = arch::fetch_add(o.counters, 1);
  if constexpr (turn != Turn::not_waited) {
    while (arch::load_acquire(o.counters + 1) != ticket) {
    }
  }
  mark("read");
  const int sum = ticket == 0 ? 0 : arch::global_load<int>(o.out);
  mark("write");
  arch::global_store(o.out, sum + ticket);
  if constexpr (turn == Turn::released || turn == Turn::not_waited) {
    arch::store_release(o.counters + 1, ticket + 1);
  } else {
    arch::fetch_add(o.counters + 1, 1);
  }
}

/// Block 0 tells block 1, and that block 0's second warp: orders go on from one to the next.
template <bool right>
void there_and_back(const Operands& o) {
  const int t = arch::thread_index();
  const auto await = [&](int* counter) {
    while (arch::load_acquire(counter) == 0) {
    }
  };
  if (arch::block_index() == 0 && t == 0) {
    mark("write");
    arch::global_store(o.out, 42);
    if (right) arch::store_release(o.counters, 1);
    if (!right) arch::fetch_add(o.counters, 1);
  } else if (arch::block_index() == 1 && t == 0) {
    await(o.counters);
    arch::store_release(o.counters + 1, 1);
  } else if (arch::block_index() == 0 && t == 32) {
    await(o.counters + 1);
    mark("read");
    const int x = arch::global_load<int>(o.out);
    arch::global_store(o.out + 1, x);
  }
}

}  // namespace

TEST_CASE("Threads of a block in global memory", "[race][global]") {
  fine(within_block<32, Between::block_barrier>, {}, neighbours(32));
  fine(within_block<1, Between::block_barrier>, {}, neighbours(1));
  fine(within_block<1, Between::warp_barrier>, {}, neighbours(1));
  caught(within_block<32, Between::warp_barrier>, {}, race);
  caught(within_block<32, Between::nothing>, {}, race);
  caught(within_block<1, Between::nothing>, {}, race);
}

TEST_CASE("Named barriers order global memory too", "[race][global]") {
  fine(by_named_barrier<true>, {});
  caught(by_named_barrier<false>, {}, {" of out", "@read"});
}

TEST_CASE("Independent blocks", "[race][global]") {
  for (const int host_threads : {1, 2}) {
    const test::Setup setup = {.grid = 8, .threads = 1, .host_threads = host_threads};
    fine(blocks_write<true>, setup, {0, 1, 2, 3, 4, 5, 6, 7});
    caught(blocks_write<false>, setup,
           {"race: byte 12 of out was written by thread 0 ", "writes it", "@write"});
    fine(blocks_write_bytes<true>, setup, {0x01010101, 0x01010101});
    caught(blocks_write_bytes<false>, setup, {"race: byte ", "of out was written by", "@write"});
    caught(blocks_read, setup, {"race: byte 0 of counters was ", "@write", "@read"});
  }
}

TEST_CASE("A relaxed counter orders no blocks", "[race][global]") {
  for (const unsigned grid : {2U, 3U, 8U}) {
    INFO(grid << " blocks");
    caught(last_block_sums, {.grid = grid, .threads = 1, .blocks_wait = true}, race);
  }
}

TEST_CASE("Blocks in turn", "[race][global]") {
  const test::Setup setup = {.grid = 7, .threads = 1, .blocks_wait = true};
  fine(in_turn<Turn::released>, setup, {21});
  caught(in_turn<Turn::relaxed>, setup, race);
  caught(in_turn<Turn::not_waited>, setup, {" of out", "@read"});
}

TEST_CASE("An order goes on through another block", "[race][global]") {
  const test::Setup setup = {.grid = 2, .blocks_wait = true};
  fine(there_and_back<true>, setup, {42, 42});
  caught(there_and_back<false>, setup, race);
}

namespace {

/// The same flag is looked at again and again, though nobody sets it any more.
void look_often(const Operands& o) {
  if (arch::block_index() == 0) {
    arch::store_release(o.counters, 1);
    return;
  }
  for (int tile = 0; tile < 10; ++tile) {
    while (arch::load_acquire(o.counters) != 1) {
    }
    arch::global_store(o.out + tile, tile);
  }
}

void counter_alone(const Operands& o) {
  mark("count");
  arch::fetch_add(o.counters, 1);
}

void unset_counter(const Operands& o) {
  mark("count");
  arch::fetch_add(o.out, 1);
}

void mixed_use(const Operands& o) {
  if (arch::block_index() == 0) {
    mark("write");
    arch::global_store(o.counters, 0);
  } else {
    mark("read");
    arch::fetch_add(o.counters, 1);
  }
}

}  // namespace

TEST_CASE("A flag that was set may be looked at as often as one likes", "[global]") {
  fine(look_often, {.grid = 2, .threads = 1, .blocks_wait = true}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("Counters are for blocks that are said to wait", "[global]") {
  fine(counter_alone, {.grid = 3, .blocks_wait = true});
  caught(counter_alone, {.grid = 3}, {"uses a counter that blocks share", "@count"});
}

TEST_CASE("A counter is set before it counts", "[global]") {
  caught(unset_counter, {.blocks_wait = true},
         {"uses byte 0 of out as a counter, which was never set", "@count"});
}

TEST_CASE("A counter is no number to write without order", "[race][global]") {
  caught(mixed_use, {.grid = 2, .threads = 1, .blocks_wait = true},
         {"race: byte 0 of counters was ", "@write", "@read"});
}
