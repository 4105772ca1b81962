/// Stores to counters that blocks share: one that may undo a change by another thread is a fault, whether it
/// did or not.
#include "support/catch_compat.hpp"
#include "trial.hpp"

using namespace quarry;
using test::caught;
using test::fine;
using test::mark;
using test::Operands;

namespace {

enum class Who { one_thread, all_threads };

/// Blocks in turn, of which one thread passes the turn on, or every thread: then a late one takes it back.
template <Who passes>
void pass_on(const Operands& o) {
  const int block = static_cast<int>(arch::block_index());
  while (arch::load_acquire(o.counters) != block) {
  }
  arch::block_barrier();
  if (passes == Who::all_threads || arch::thread_index() == 63) {
    mark("set");
    arch::store_release(o.counters, block + 1);
  }
}

/// The block that draws the last ticket sets the counter back: it met the last change when it drew.
void set_back(const Operands& o) {
  const int ticket = arch::fetch_add(o.counters, 1);
  if (ticket == static_cast<int>(arch::grid_blocks()) - 1) arch::store_release(o.counters, 0);
}

/// A barrier hands on that another thread has met the change.
void set_by_another(const Operands& o) {
  if (arch::thread_index() == 0) arch::store_release(o.counters, 1);
  arch::block_barrier();
  if (arch::thread_index() == 1) arch::store_release(o.counters, 2);
}

/// Two blocks set a counter of their own, or the same.
template <bool own>
void set_alone(const Operands& o) {
  mark("set");
  arch::store_release(o.counters + (own ? arch::block_index() : 0), 1);
}

}  // namespace

TEST_CASE("A turn that every thread passes on", "[race][global]") {
  fine(pass_on<Who::one_thread>, {.grid = 3, .blocks_wait = true});
  caught(pass_on<Who::all_threads>, {.grid = 3, .blocks_wait = true},
         {"race: byte 0 of counters was ", "sets it", "@set"});
}

TEST_CASE("A counter that is set back", "[race][global]") {
  fine(set_back, {.grid = 5, .threads = 1, .blocks_wait = true});
  fine(set_by_another, {.blocks_wait = true});
}

TEST_CASE("A counter that two blocks set", "[race][global]") {
  fine(set_alone<true>, {.grid = 2, .threads = 1, .blocks_wait = true});
  caught(set_alone<false>, {.grid = 2, .threads = 1, .blocks_wait = true},
         {"race: byte 0 of counters was ", "sets it", "@set"});
}
